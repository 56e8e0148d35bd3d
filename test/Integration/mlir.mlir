// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// RUN: rm -rf %t && mkdir %t
// RUN: %python -c "import numpy as np; x = np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32); w = np.arange(8, dtype=np.float32).reshape(4, 2); np.save(r'%t/x.npy', x); np.save(r'%t/y.npy', np.maximum(x @ w + np.float32([1, -1]), 0))"
// RUN: ashlar-compile %s --shape=x=3x4 -o %t/mlir.ash
// RUN: ashlar-run %t/mlir.ash --input=x=%t/x.npy --expect=y=%t/y.npy --rtol=1e-5 --atol=1e-6
// RUN: ashlar-compile %s --shape=x=3x4 --target=reference -o %t/reference.ash
// RUN: ashlar-run %t/reference.ash --input=x=%t/x.npy --expect=y=%t/y.npy --rtol=1e-5 --atol=1e-6

// A TOSA file becomes numbers, the same that NumPy computes.
func.func @predict(%x: tensor<?x4xf32> {ashlar.name = "x"})
    -> (tensor<?x2xf32> {ashlar.name = "y"}) {
  %one = tosa.const_shape {values = dense<[1, 3, 4]> : tensor<3xindex>}
      : () -> !tosa.shape<3>
  %two = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>}
      : () -> !tosa.shape<2>
  %w = "tosa.const"() <{values = dense<[[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0],
      [6.0, 7.0]]]> : tensor<1x4x2xf32>}> : () -> tensor<1x4x2xf32>
  %b = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}>
      : () -> tensor<1x1x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}>
      : () -> tensor<1xf32>
  %x3 = tosa.reshape %x, %one : (tensor<?x4xf32>, !tosa.shape<3>)
      -> tensor<1x3x4xf32>
  %p = tosa.matmul %x3, %w, %z, %z : (tensor<1x3x4xf32>, tensor<1x4x2xf32>,
      tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2xf32>
  %s = tosa.add %p, %b : (tensor<1x3x2xf32>, tensor<1x1x2xf32>)
      -> tensor<1x3x2xf32>
  %r = tosa.clamp %s {min_val = 0.0 : f32, max_val = 3.0e38 : f32}
      : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %y = tosa.reshape %r, %two : (tensor<1x3x2xf32>, !tosa.shape<2>)
      -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

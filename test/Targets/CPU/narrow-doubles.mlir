// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// RUN: rm -rf %t && mkdir %t
// RUN: %python -c "import numpy as np; e = 2.0 ** -40; x = np.array([1 + 2**-11, 1 + 2**-11 + e, 1 + 3 * 2**-11 - e, -1 - 2**-11 - e, 65519.9999999, 65520, 1e-300, -1e-300, 2**-25, 2**-25 + 2.0**-70, 3 * 2**-25, np.nan, np.inf, -np.inf, -0.0, 1e300, 1/3]); np.save(r'%t/x.npy', x); np.save(r'%t/y.npy', x.astype(np.float16))"
// RUN: ashlar-compile %s -o %t/m.ash --target=cpu:host --quiet
// RUN: ashlar-run %t/m.ash --input=x=%t/x.npy --expect=y=%t/y.npy --rtol=0 --atol=0
// RUN: ashlar-compile %s -o %t/r.ash --target=reference --quiet
// RUN: ashlar-run %t/r.ash --input=x=%t/x.npy --expect=y=%t/y.npy --rtol=0 --atol=0
// RUN: ashlar-compile %s -o %t/all.ash --target=cpu:x86-64,cpu:x86-64-v3,cpu:x86-64-v4,cpu:znver4,cpu:sapphirerapids,cpu:aarch64 --quiet

// From f64 to 16 bits is rounded once, ties to even, without a function that a
// library may lack: neither just above a tie, nor just below one, does f32 on
// the way round first.
func.func @main(%x: tensor<17xf64> {ashlar.name = "x"})
    -> (tensor<17xf16> {ashlar.name = "y"}, tensor<17xbf16> {ashlar.name = "z"}) {
  %e = tensor.empty() : tensor<17xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<17xf64>) outs(%e : tensor<17xf16>) {
  ^bb0(%u: f64, %o: f16):
    %t = arith.truncf %u : f64 to f16
    linalg.yield %t : f16
  } -> tensor<17xf16>
  %d = tensor.empty() : tensor<17xbf16>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<17xf64>) outs(%d : tensor<17xbf16>) {
  ^bb0(%u: f64, %o: bf16):
    %t = arith.truncf %u : f64 to bf16
    linalg.yield %t : bf16
  } -> tensor<17xbf16>
  return %y, %z : tensor<17xf16>, tensor<17xbf16>
}

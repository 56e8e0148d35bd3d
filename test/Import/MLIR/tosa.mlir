// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s --until=import --shape=image=1x8x8x3 | FileCheck %s

// TOSA is converted by upstream's passes; its own shape inference makes static
// what follows from the arguments.
// CHECK: func.func @main(%{{.*}}: tensor<1x8x8x3xf32> {ashlar.name = "image"
// CHECK-SAME: -> (tensor<1x128xf32> {ashlar.name = "scores"
// CHECK-NOT: = tosa.
// CHECK: linalg.conv_2d_nhwc_{{[a-z]*}}
// CHECK-NOT: = tosa.
// CHECK-NOT: tensor<?
func.func @main(%x: tensor<?x8x8x3xf32> {ashlar.name = "image"})
    -> (tensor<?x128xf32> {ashlar.name = "scores"}) {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<2x3x3x3xf32>}>
      : () -> tensor<2x3x3x3xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}>
      : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}>
      : () -> tensor<1xf32>
  %c = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32,
      dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>,
      stride = array<i64: 1, 1>} : (tensor<?x8x8x3xf32>, tensor<2x3x3x3xf32>,
      tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x8x8x2xf32>
  %r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 6.0 : f32}
      : (tensor<?x8x8x2xf32>) -> tensor<?x8x8x2xf32>
  %s = tosa.const_shape {values = dense<[1, 128]> : tensor<2xindex>}
      : () -> !tosa.shape<2>
  %f = tosa.reshape %r, %s : (tensor<?x8x8x2xf32>, !tosa.shape<2>)
      -> tensor<?x128xf32>
  return %f : tensor<?x128xf32>
}

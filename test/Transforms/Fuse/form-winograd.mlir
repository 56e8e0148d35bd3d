// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-winograd --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-form-winograd --split-input-file --remark-format=emitRemark --remarks-filter="winograd" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (o, r, s, c)>
#bias = affine_map<(n, h, w, o) -> (o)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// A 3x3 convolution of stride one with constant weights: they become one matrix
// for each place of a transformed box, in panels. What follows its sums stays.
// CHECK-LABEL: func.func @convolution
// CHECK: dense_resource<winograd{{.*}}> : tensor<36x64x64xf32>
// CHECK: %[[PANELS:.*]] = tile.pack %{{.*}} columns = 2 order = [0, 1] : tensor<36x64x64xf32> to tensor<4x36x64x16xf32>
// CHECK: tile.winograd a(%arg0 : tensor<1x66x66x64xf32>) b(%[[PANELS]]
// CHECK-SAME: epilogue(%arg1 : tensor<64xf32>)
// CHECK-SAME: outputSize = 4 : i64, parallel = array<i64: 1, 64, 64, 64>
// CHECK: arith.addf
// CHECK: arith.maximumf
// WHY: remark: [Passed] Winograd | {{.*}}Function=convolution | Cycles={{[0-9]+}}, DirectCycles={{[0-9]+}}, Error={{[0-9.e-]+}}, Outputs=4
func.func @convolution(%x: tensor<1x66x66x64xf32>, %bias: tensor<64xf32>) -> tensor<1x64x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.01> : tensor<64x3x3x64xf32>
  %e = tensor.empty() : tensor<1x64x64x64xf32>
  %y = tile.contract a(%x : tensor<1x66x66x64xf32>) b(%w : tensor<64x3x3x64xf32>) epilogue(%bias : tensor<64xf32>) outs(%e : tensor<1x64x64x64xf32>)
      attributes {parallel = array<i64: 1, 64, 64, 64>, reduced = array<i64: 3, 3, 64>, maps = [#a, #b, #bias, #y]} {
  ^bb0(%t: f32, %u: f32):
    %s = arith.addf %t, %u : f32
    %r = arith.maximumf %s, %zero : f32
    tile.yield %r : f32
  } -> tensor<1x64x64x64xf32>
  return %y : tensor<1x64x64x64xf32>
}

// -----

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (o, r, s, c)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// Refused, each with its reason: weights that a caller gives, and too few
// channels for the transforms to pay.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: tile.winograd
// CHECK: return
// WHY: remark: [Missed] Winograd | {{.*}}Function=apart | Reason="its weights are not constant"
// WHY: remark: [Missed] Winograd | {{.*}}Function=apart | Reason="no transform gains a tenth within the error: {{[0-9]+}} cycles directly; F(2,3) would take {{[0-9]+}}; F(4,3) would take {{[0-9]+}}"
func.func @apart(%x: tensor<1x34x34x64xf32>, %w: tensor<64x3x3x64xf32>, %small: tensor<1x34x34x1xf32>) -> (tensor<1x32x32x64xf32>, tensor<1x32x32x2xf32>) {
  %e = tensor.empty() : tensor<1x32x32x64xf32>
  %y = tile.contract a(%x : tensor<1x34x34x64xf32>) b(%w : tensor<64x3x3x64xf32>) outs(%e : tensor<1x32x32x64xf32>)
      attributes {parallel = array<i64: 1, 32, 32, 64>, reduced = array<i64: 3, 3, 64>, maps = [#a, #b, #y]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<1x32x32x64xf32>
  %few = arith.constant dense<0.1> : tensor<2x3x3x1xf32>
  %f = tensor.empty() : tensor<1x32x32x2xf32>
  %z = tile.contract a(%small : tensor<1x34x34x1xf32>) b(%few : tensor<2x3x3x1xf32>) outs(%f : tensor<1x32x32x2xf32>)
      attributes {parallel = array<i64: 1, 32, 32, 2>, reduced = array<i64: 3, 3, 1>, maps = [#a, #b, #y]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<1x32x32x2xf32>
  return %y, %z : tensor<1x32x32x64xf32>, tensor<1x32x32x2xf32>
}

// -----

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (o, r, s, c)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// Strides of two have no such transform.
// CHECK-LABEL: func.func @strides
// CHECK-NOT: tile.winograd
// CHECK: return
func.func @strides(%x: tensor<1x65x65x64xf32>) -> tensor<1x32x32x64xf32> {
  %w = arith.constant dense<0.01> : tensor<64x3x3x64xf32>
  %e = tensor.empty() : tensor<1x32x32x64xf32>
  %y = tile.contract a(%x : tensor<1x65x65x64xf32>) b(%w : tensor<64x3x3x64xf32>) outs(%e : tensor<1x32x32x64xf32>)
      attributes {parallel = array<i64: 1, 32, 32, 64>, reduced = array<i64: 3, 3, 64>, maps = [#a, #b, #y]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<1x32x32x64xf32>
  return %y : tensor<1x32x32x64xf32>
}

// -----

#a = affine_map<(n, h, w, o, c, r, s) -> (n, c, h + r, w + s)>
#b = affine_map<(n, h, w, o, c, r, s) -> (o, c, r, s)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// Channels first, as behind a norm of groups: the input is transposed.
// CHECK: #[[FROM:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-LABEL: func.func @channelsFirst
// CHECK: %[[LAST:.*]] = linalg.generic {indexing_maps = [#[[FROM]], {{.*}} ins(%arg0 : tensor<1x64x66x66xf32>) outs({{.*}} : tensor<1x66x66x64xf32>)
// CHECK: tile.winograd a(%[[LAST]] : tensor<1x66x66x64xf32>)
func.func @channelsFirst(%x: tensor<1x64x66x66xf32>) -> tensor<1x64x64x64xf32> {
  %w = arith.constant dense<0.01> : tensor<64x64x3x3xf32>
  %e = tensor.empty() : tensor<1x64x64x64xf32>
  %y = tile.contract a(%x : tensor<1x64x66x66xf32>) b(%w : tensor<64x64x3x3xf32>) outs(%e : tensor<1x64x64x64xf32>)
      attributes {parallel = array<i64: 1, 64, 64, 64>, reduced = array<i64: 64, 3, 3>, maps = [#a, #b, #y]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<1x64x64x64xf32>
  return %y : tensor<1x64x64x64xf32>
}

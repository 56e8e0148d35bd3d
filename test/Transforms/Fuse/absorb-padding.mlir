// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-absorb-padding --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-absorb-padding --split-input-file --remark-format=emitRemark --remarks-filter="padding" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// The contraction writes its sums into the middle and the pad beside them.
// Others that read the sums read them there.
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1) -> (d0 + 1, d1 + 2)>
// CHECK-LABEL: func.func @margins
// CHECK: %[[Y:.*]] = tile.contract a(%arg0 : tensor<8x16xf32>) b(%arg1 : tensor<16x32xf32>) outs({{.*}} : tensor<12x34xf32>)
// CHECK-SAME: maps = [{{.*}}, #[[PLACE]]], pad = 5.000000e+00 : f32
// CHECK: } -> tensor<12x34xf32>
// CHECK-NOT: tensor.pad
// CHECK: %[[MIDDLE:.*]] = tensor.extract_slice %[[Y]][1, 2] [8, 32] [1, 1] : tensor<12x34xf32> to tensor<8x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[MIDDLE]] :
// CHECK: return %[[Y]]
// WHY: remark: [Passed] Padding | {{.*}}Function=margins | BytesSaved=2656
func.func @margins(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> (tensor<12x34xf32>, tensor<8x32xf32>) {
  %five = arith.constant 5.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %y = tile.contract a(%x : tensor<8x16xf32>) b(%w : tensor<16x32xf32>) outs(%e : tensor<8x32xf32>)
      attributes {parallel = array<i64: 8, 32>, reduced = array<i64: 16>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<8x32xf32>
  %p = tensor.pad %y low[1, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %five : f32
  } : tensor<8x32xf32> to tensor<12x34xf32>
  %n = linalg.generic {indexing_maps = [#c, #c], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%t: f32, %o: f32):
    %m = arith.negf %t : f32
    linalg.yield %m : f32
  } -> tensor<8x32xf32>
  return %p, %n : tensor<12x34xf32>, tensor<8x32xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Copies stay, each with its reason: what is padded is no contraction's, the
// value is not constant, the function gives away the sums, one padding is there.
// CHECK-LABEL: func.func @copies
// CHECK-COUNT-4: tensor.pad
// CHECK: return
// WHY: remark: [Missed] Padding | {{.*}}Function=copies | Bytes=1632, Reason="what it pads is not a contraction's result"
// WHY: remark: [Missed] Padding | {{.*}}Function=copies | Bytes=1632, Reason="the value it pads with is not constant"
// WHY: remark: [Missed] Padding | {{.*}}Function=copies | Bytes=1632, Reason="a view, a copy or the function's end reads the contraction's result without margins"
// WHY: remark: [Missed] Padding | {{.*}}Function=copies | Bytes=2448, Reason="the contraction has another padding already"
func.func @copies(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %v: f32, %g: tensor<8x32xf32>)
    -> (tensor<12x34xf32>, tensor<12x34xf32>, tensor<12x34xf32>, tensor<8x32xf32>, tensor<18x34xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %given = tensor.pad %g low[1, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x32xf32> to tensor<12x34xf32>
  %y = tile.contract a(%x : tensor<8x16xf32>) b(%w : tensor<16x32xf32>) outs(%e : tensor<8x32xf32>)
      attributes {parallel = array<i64: 8, 32>, reduced = array<i64: 16>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<8x32xf32>
  %variable = tensor.pad %y low[1, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<8x32xf32> to tensor<12x34xf32>
  %z = tile.contract a(%x : tensor<8x16xf32>) b(%w : tensor<16x32xf32>) outs(%e : tensor<8x32xf32>)
      attributes {parallel = array<i64: 8, 32>, reduced = array<i64: 16>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<8x32xf32>
  %read = tensor.pad %z low[1, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x32xf32> to tensor<12x34xf32>
  %f = tensor.empty() : tensor<12x34xf32>
  %padded = tile.contract a(%x : tensor<8x16xf32>) b(%w : tensor<16x32xf32>) outs(%f : tensor<12x34xf32>)
      attributes {parallel = array<i64: 8, 32>, reduced = array<i64: 16>, maps = [#a, #b, affine_map<(m, n) -> (m + 1, n + 2)>], pad = 0.0 : f32} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<12x34xf32>
  %twice = tensor.pad %padded low[3, 0] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<12x34xf32> to tensor<18x34xf32>
  return %given, %variable, %read, %z, %twice : tensor<12x34xf32>, tensor<12x34xf32>, tensor<12x34xf32>, tensor<8x32xf32>, tensor<18x34xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-merge-contracts --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-merge-contracts --split-input-file --remark-format=emitRemark --remarks-filter="fusion" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bias = affine_map<(m, n) -> (n)>
#c = affine_map<(m, n) -> (m, n)>

// Queries, keys and values of one tensor, each with its own weights and bias,
// and one tensor that all of them read: constants are stacked along a dim more,
// what is shared stays; each result is a view of the one.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[SHARED:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @projections
// CHECK-DAG: %[[W:.*]] = arith.constant #tile.stacked<dense<1.000000e+00> : tensor<24x32xf32>, dense<2.000000e+00> : tensor<24x32xf32>, dense<3.000000e+00> : tensor<24x32xf32>> : tensor<3x24x32xf32>
// CHECK-DAG: %[[R:.*]] = arith.constant #tile.stacked<dense<4.000000e+00> : tensor<32xf32>, dense<5.000000e+00> : tensor<32xf32>, dense<6.000000e+00> : tensor<32xf32>> : tensor<3x32xf32>
// CHECK: %[[Y:.*]] = tile.contract a(%arg0 : tensor<20x24xf32>) b(%[[W]] : tensor<3x24x32xf32>) epilogue(%[[R]], %arg1 : tensor<3x32xf32>, tensor<20x32xf32>) outs({{.*}} : tensor<3x20x32xf32>)
// CHECK-SAME: maps = [#[[A]], #[[B]], #[[BIAS]], #[[SHARED]], #[[C]]], parallel = array<i64: 3, 20, 32>, reduced = array<i64: 24>
// CHECK-NOT: tile.contract
// CHECK: tensor.extract_slice %[[Y]][0, 0, 0] [1, 20, 32] [1, 1, 1] : tensor<3x20x32xf32> to tensor<20x32xf32>
// CHECK: tensor.extract_slice %[[Y]][1, 0, 0] [1, 20, 32] [1, 1, 1] : tensor<3x20x32xf32> to tensor<20x32xf32>
// CHECK: tensor.extract_slice %[[Y]][2, 0, 0] [1, 20, 32] [1, 1, 1] : tensor<3x20x32xf32> to tensor<20x32xf32>
func.func @projections(%x: tensor<20x24xf32>, %s: tensor<20x32xf32>) -> tensor<20x32xf32> {
  %w0 = arith.constant dense<1.0> : tensor<24x32xf32>
  %w1 = arith.constant dense<2.0> : tensor<24x32xf32>
  %w2 = arith.constant dense<3.0> : tensor<24x32xf32>
  %b0 = arith.constant dense<4.0> : tensor<32xf32>
  %b1 = arith.constant dense<5.0> : tensor<32xf32>
  %b2 = arith.constant dense<6.0> : tensor<32xf32>
  %e = tensor.empty() : tensor<20x32xf32>
  %q = tile.contract a(%x : tensor<20x24xf32>) b(%w0 : tensor<24x32xf32>) epilogue(%b0, %s : tensor<32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #bias, #c, #c]} {
  ^bb0(%t: f32, %u: f32, %v: f32):
    %y = arith.addf %t, %u : f32
    %z = arith.mulf %y, %v : f32
    tile.yield %z : f32
  } -> tensor<20x32xf32>
  %k = tile.contract a(%x : tensor<20x24xf32>) b(%w1 : tensor<24x32xf32>) epilogue(%b1, %s : tensor<32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #bias, #c, #c]} {
  ^bb0(%t: f32, %u: f32, %v: f32):
    %y = arith.addf %t, %u : f32
    %z = arith.mulf %y, %v : f32
    tile.yield %z : f32
  } -> tensor<20x32xf32>
  %v = tile.contract a(%x : tensor<20x24xf32>) b(%w2 : tensor<24x32xf32>) epilogue(%b2, %s : tensor<32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #bias, #c, #c]} {
  ^bb0(%t: f32, %u: f32, %v: f32):
    %y = arith.addf %t, %u : f32
    %z = arith.mulf %y, %v : f32
    tile.yield %z : f32
  } -> tensor<20x32xf32>
  %sum = linalg.add ins(%q, %k : tensor<20x32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>) -> tensor<20x32xf32>
  %all = linalg.add ins(%sum, %v : tensor<20x32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>) -> tensor<20x32xf32>
  return %all : tensor<20x32xf32>
}

// -----

// What differs in more than its constants stays apart: by its sizes, its order,
// its epilogue, a tensor of its own, weights that are not constant, a result
// that leaves the function.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @apart
// CHECK-NOT: stacked
// CHECK: return
func.func @apart(%x: tensor<20x24xf32>, %w: tensor<24x32xf32>, %s: tensor<20x32xf32>)
    -> (tensor<20x32xf32>, tensor<4x5x32xf32>, tensor<20x16xf32>) {
  %w0 = arith.constant dense<1.0> : tensor<24x32xf32>
  %w1 = arith.constant dense<2.0> : tensor<24x16xf32>
  %w2 = arith.constant dense<3.0> : tensor<32x24xf32>
  %e = tensor.empty() : tensor<20x32xf32>
  %e1 = tensor.empty() : tensor<20x16xf32>
  %first = tile.contract a(%x : tensor<20x24xf32>) b(%w0 : tensor<24x32xf32>) epilogue(%s : tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #c, #c]} {
  ^bb0(%t: f32, %u: f32):
    %y = arith.addf %t, %u : f32
    tile.yield %y : f32
  } -> tensor<20x32xf32>
  %sizes = tile.contract a(%x : tensor<20x24xf32>) b(%w1 : tensor<24x16xf32>) outs(%e1 : tensor<20x16xf32>)
      attributes {parallel = array<i64: 20, 16>, reduced = array<i64: 24>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<20x16xf32>
  %order = tile.contract a(%x : tensor<20x24xf32>) b(%w2 : tensor<32x24xf32>) epilogue(%s : tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #bt, #c, #c]} {
  ^bb0(%t: f32, %u: f32):
    %y = arith.addf %t, %u : f32
    tile.yield %y : f32
  } -> tensor<20x32xf32>
  %body = tile.contract a(%x : tensor<20x24xf32>) b(%w0 : tensor<24x32xf32>) epilogue(%s : tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #c, #c]} {
  ^bb0(%t: f32, %u: f32):
    %y = arith.mulf %t, %u : f32
    tile.yield %y : f32
  } -> tensor<20x32xf32>
  %tensor = tile.contract a(%x : tensor<20x24xf32>) b(%w0 : tensor<24x32xf32>) epilogue(%body : tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #c, #c]} {
  ^bb0(%t: f32, %u: f32):
    %y = arith.addf %t, %u : f32
    tile.yield %y : f32
  } -> tensor<20x32xf32>
  %open = tile.contract a(%x : tensor<20x24xf32>) b(%w : tensor<24x32xf32>) epilogue(%s : tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #c, #c]} {
  ^bb0(%t: f32, %u: f32):
    %y = arith.addf %t, %u : f32
    tile.yield %y : f32
  } -> tensor<20x32xf32>
  %leaves = tile.contract a(%x : tensor<20x24xf32>) b(%w0 : tensor<24x32xf32>) epilogue(%s : tensor<20x32xf32>) outs(%e : tensor<20x32xf32>)
      attributes {parallel = array<i64: 20, 32>, reduced = array<i64: 24>, maps = [#a, #b, #c, #c]} {
  ^bb0(%t: f32, %u: f32):
    %y = arith.addf %t, %u : f32
    tile.yield %y : f32
  } -> tensor<20x32xf32>
  %shaped = tensor.expand_shape %leaves [[0, 1], [2]] output_shape [4, 5, 32] : tensor<20x32xf32> into tensor<4x5x32xf32>
  %y0 = linalg.add ins(%first, %order : tensor<20x32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>) -> tensor<20x32xf32>
  %y1 = linalg.add ins(%y0, %tensor : tensor<20x32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>) -> tensor<20x32xf32>
  %y2 = linalg.add ins(%y1, %open : tensor<20x32xf32>, tensor<20x32xf32>) outs(%e : tensor<20x32xf32>) -> tensor<20x32xf32>
  return %y2, %shaped, %sizes : tensor<20x32xf32>, tensor<4x5x32xf32>, tensor<20x16xf32>
}

// -----

// A part that begins at no multiple of 64 bytes is no view, padding is for one.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
#inside = affine_map<(m, n) -> (m + 1, n)>
// CHECK-LABEL: func.func @odd
// CHECK-NOT: stacked
// CHECK: return
func.func @odd(%x: tensor<3x24xf32>, %z: tensor<3x8xf32>) -> tensor<3x5xf32> {
  %w0 = arith.constant dense<1.0> : tensor<24x5xf32>
  %w1 = arith.constant dense<2.0> : tensor<24x5xf32>
  %w2 = arith.constant dense<2.0> : tensor<8x16xf32>
  %e = tensor.empty() : tensor<3x5xf32>
  %e1 = tensor.empty() : tensor<4x16xf32>
  %p = tile.contract a(%x : tensor<3x24xf32>) b(%w0 : tensor<24x5xf32>) outs(%e : tensor<3x5xf32>)
      attributes {parallel = array<i64: 3, 5>, reduced = array<i64: 24>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<3x5xf32>
  %q = tile.contract a(%x : tensor<3x24xf32>) b(%w1 : tensor<24x5xf32>) outs(%e : tensor<3x5xf32>)
      attributes {parallel = array<i64: 3, 5>, reduced = array<i64: 24>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<3x5xf32>
  %r = tile.contract a(%z : tensor<3x8xf32>) b(%w2 : tensor<8x16xf32>) outs(%e1 : tensor<4x16xf32>)
      attributes {parallel = array<i64: 3, 16>, reduced = array<i64: 8>, maps = [#a, #b, #inside], pad = 0.0 : f32} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<4x16xf32>
  %s = tile.contract a(%z : tensor<3x8xf32>) b(%w2 : tensor<8x16xf32>) outs(%e1 : tensor<4x16xf32>)
      attributes {parallel = array<i64: 3, 16>, reduced = array<i64: 8>, maps = [#a, #b, #inside], pad = 0.0 : f32} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<4x16xf32>
  %pads = linalg.add ins(%r, %s : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %part = tensor.extract_slice %pads[0, 0] [3, 5] [1, 1] : tensor<4x16xf32> to tensor<3x5xf32>
  %y0 = linalg.add ins(%p, %q : tensor<3x5xf32>, tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = linalg.add ins(%y0, %part : tensor<3x5xf32>, tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Where one is predicted to take longer than both with their launches, here
// since its results no longer stay near, they stay apart, with both figures.
// CHECK-LABEL: func.func @dear
// CHECK-COUNT-2: tile.contract a(%arg0 : tensor<20000x2xf32>) b({{.*}} : tensor<2x80xf32>)
// CHECK-NOT: tile.contract
// CHECK: return
// WHY: [Missed] Siblings | {{.*}}Function=dear | ApartCycles=8{{[0-9]+}}, Bytes=160000, Cycles=16{{[0-9]+}}, {{.*}}"stays apart from "
func.func @dear(%x: tensor<20000x2xf32>, %s: tensor<20000x80xf32>) -> (tensor<20000x80xf32>, tensor<20000x80xf32>) {
  %w0 = arith.constant dense<1.0> : tensor<2x80xf32>
  %w1 = arith.constant dense<2.0> : tensor<2x80xf32>
  %e = tensor.empty() : tensor<20000x80xf32>
  %p = tile.contract a(%x : tensor<20000x2xf32>) b(%w0 : tensor<2x80xf32>) outs(%e : tensor<20000x80xf32>)
      attributes {parallel = array<i64: 20000, 80>, reduced = array<i64: 2>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<20000x80xf32>
  %q = tile.contract a(%x : tensor<20000x2xf32>) b(%w1 : tensor<2x80xf32>) outs(%e : tensor<20000x80xf32>)
      attributes {parallel = array<i64: 20000, 80>, reduced = array<i64: 2>, maps = [#a, #b, #c]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<20000x80xf32>
  %y = linalg.add ins(%p, %s : tensor<20000x80xf32>, tensor<20000x80xf32>) outs(%e : tensor<20000x80xf32>) -> tensor<20000x80xf32>
  %z = linalg.add ins(%q, %s : tensor<20000x80xf32>, tensor<20000x80xf32>) outs(%e : tensor<20000x80xf32>) -> tensor<20000x80xf32>
  return %y, %z : tensor<20000x80xf32>, tensor<20000x80xf32>
}

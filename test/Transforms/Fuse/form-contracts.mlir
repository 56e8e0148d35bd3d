// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-contracts --split-input-file | FileCheck %s

// A matrix product: rows are of a, columns of b.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @matmul
// CHECK: %[[Y:.*]] = tile.contract a(%arg0 : tensor<20x24xf32>) b(%arg1 : tensor<24x40xf32>) outs({{.*}} : tensor<20x40xf32>)
// CHECK-SAME: maps = [#[[A]], #[[B]], #[[C]]], parallel = array<i64: 20, 40>, reduced = array<i64: 24>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: tile.yield %[[SUM]] : f32
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @matmul(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// A convolution of 3x3 with steps of two, channels last, is the same with other
// addresses.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d6)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-LABEL: func.func @convolution
// CHECK: tile.contract a(%arg0 : {{.*}}) b(%arg1 : {{.*}}) outs
// CHECK-SAME: maps = [#[[A]], #[[B]], #{{.*}}], parallel = array<i64: 1, 10, 10, 40>, reduced = array<i64: 3, 3, 16>
// CHECK-NOT: linalg.generic
func.func @convolution(%a: tensor<1x21x21x16xf32>, %b: tensor<3x3x16x40xf32>) -> tensor<1x10x10x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x40xf32>) -> tensor<1x10x10x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>,
        affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>,
        affine_map<(n, h, w, o, r, s, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x21x21x16xf32>, tensor<3x3x16x40xf32>) outs(%z : tensor<1x10x10x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x10x10x40xf32>
  return %y : tensor<1x10x10x40xf32>
}

// -----

// A depthwise convolution has lanes: the channel is in all three.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
// CHECK-LABEL: func.func @depthwise
// CHECK: tile.contract a(%arg0 : {{.*}}) b(%arg1 : {{.*}}) outs
// CHECK-SAME: maps = [#[[A]], #[[B]], #{{.*}}], parallel = array<i64: 1, 10, 10, 40>, reduced = array<i64: 3, 3>
// CHECK-NOT: linalg.generic
func.func @depthwise(%a: tensor<1x12x12x40xf32>, %b: tensor<3x3x40xf32>) -> tensor<1x10x10x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x40xf32>) -> tensor<1x10x10x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, r, s) -> (n, h + r, w + s, c)>,
        affine_map<(n, h, w, c, r, s) -> (r, s, c)>,
        affine_map<(n, h, w, c, r, s) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x12x12x40xf32>, tensor<3x3x40xf32>) outs(%z : tensor<1x10x10x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x10x10x40xf32>
  return %y : tensor<1x10x10x40xf32>
}

// -----

// A grouped one has a batch dim among its columns.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d5, d4)>
// CHECK-LABEL: func.func @grouped
// CHECK: tile.contract a(%arg0 : {{.*}}) b(%arg1 : {{.*}}) outs
// CHECK-SAME: maps = [#[[A]], #[[B]], #{{.*}}], parallel = array<i64: 1, 8, 8, 4, 16>, reduced = array<i64: 24>
// CHECK-NOT: linalg.generic
func.func @grouped(%a: tensor<1x8x8x4x24xf32>, %b: tensor<4x24x16xf32>) -> tensor<1x8x8x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x8x4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x4x16xf32>) -> tensor<1x8x8x4x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, g, o, c) -> (n, h, w, g, c)>, affine_map<(n, h, w, g, o, c) -> (g, c, o)>,
        affine_map<(n, h, w, g, o, c) -> (n, h, w, g, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x8x8x4x24xf32>, tensor<4x24x16xf32>) outs(%z : tensor<1x8x8x4x16xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x8x4x16xf32>
  return %y : tensor<1x8x8x4x16xf32>
}

// -----

// The product of queries and keys reads its columns across.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: func.func @attention
// CHECK: tile.contract a(%arg0 : {{.*}}) b(%arg1 : {{.*}}) outs
// CHECK-SAME: maps = [#[[A]], #[[B]], #{{.*}}], parallel = array<i64: 2, 20, 40>, reduced = array<i64: 24>
// CHECK-NOT: linalg.generic
func.func @attention(%a: tensor<2x20x24xf32>, %b: tensor<2x40x24xf32>) -> tensor<2x20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x20x40xf32>) -> tensor<2x20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x20x24xf32>, tensor<2x40x24xf32>) outs(%z : tensor<2x20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x20x40xf32>
  return %y : tensor<2x20x40xf32>
}

// -----

// Lanes run along the last dim of the result: where that is a dim of the first
// operand, the operands change places.
// CHECK-LABEL: func.func @transposed
// CHECK: tile.contract a(%arg1 : {{.*}}) b(%arg0 : {{.*}}) outs
// CHECK-SAME: parallel = array<i64: 40, 20>, reduced = array<i64: 24>
func.func @transposed(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<40x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x20xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<40x20xf32>) -> tensor<40x20xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<40x20xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<40x20xf32>
  return %y : tensor<40x20xf32>
}

// -----

// What lies side by side in a is summed innermost.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2, d1)>
// CHECK-LABEL: func.func @innermost
// CHECK: tile.contract
// CHECK-SAME: maps = [#[[A]], #[[B]], #{{.*}}], parallel = array<i64: 20, 40>, reduced = array<i64: 3, 8>
func.func @innermost(%a: tensor<20x3x8xf32>, %b: tensor<8x3x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (m, l, k)>, affine_map<(m, n, k, l) -> (k, l, n)>, affine_map<(m, n, k, l) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<20x3x8xf32>, tensor<8x3x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// How integers are extended is kept, and the order of the addition does not
// matter.
// CHECK-LABEL: func.func @integers
// CHECK: tile.contract a(%arg0 : tensor<20x24xi8>) b(%arg1 : tensor<24x40xi8>) outs({{.*}} : tensor<20x40xi32>) attributes {aUnsigned, maps
// CHECK-NOT: bUnsigned
// CHECK: ^bb0(%{{.*}}: i32):
func.func @integers(%a: tensor<20x24xi8>, %b: tensor<24x40xi8>) -> tensor<20x40xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<20x40xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<20x40xi32>) -> tensor<20x40xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xi8>, tensor<24x40xi8>) outs(%z : tensor<20x40xi32>) {
  ^bb0(%u: i8, %v: i8, %s: i32):
    %i = arith.extui %u : i8 to i32
    %j = arith.extsi %v : i8 to i32
    %p = arith.muli %i, %j : i32
    %t = arith.addi %p, %s : i32
    linalg.yield %t : i32
  } -> tensor<20x40xi32>
  return %y : tensor<20x40xi32>
}

// -----

// The elementwise op that alone reads the sums is the epilogue: bias, activation,
// narrowing, residual. Its constants come along.
// CHECK-LABEL: func.func @epilogue
// CHECK: tile.contract a(%arg0 : tensor<20x24xf16>) b(%arg1 : tensor<24x40xf16>) epilogue(%arg2, %arg3 : tensor<40xf32>, tensor<20x40xf16>) outs({{.*}} : tensor<20x40xf16>)
// CHECK: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32, %[[X:.*]]: f16):
// CHECK: %[[P:.*]] = arith.addf %[[SUM]], %[[BIAS]] : f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[Q:.*]] = arith.maximumf %[[P]], %[[ZERO]]
// CHECK: arith.truncf %[[Q]]
// CHECK: tile.yield {{.*}} : f16
// CHECK-NOT: linalg.generic
func.func @epilogue(%a: tensor<20x24xf16>, %b: tensor<24x40xf16>, %bias: tensor<40xf32>, %x: tensor<20x40xf16>) -> tensor<20x40xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf16>, tensor<24x40xf16>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f16, %v: f16, %s: f32):
    %i = arith.extf %u : f16 to f32
    %j = arith.extf %v : f16 to f32
    %p = arith.mulf %i, %j : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  %d = tensor.empty() : tensor<20x40xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>,
                                        affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %bias, %x : tensor<20x40xf32>, tensor<40xf32>, tensor<20x40xf16>) outs(%d : tensor<20x40xf16>) {
  ^bb0(%u: f32, %v: f32, %w: f16, %o: f16):
    %p = arith.addf %u, %v : f32
    %q = arith.maximumf %p, %zero : f32
    %l = arith.truncf %q : f32 to f16
    %t = arith.addf %l, %w : f16
    linalg.yield %t : f16
  } -> tensor<20x40xf16>
  return %r : tensor<20x40xf16>
}

// -----

// Sums that something else reads too are stored as they are.
// CHECK-LABEL: func.func @two_readers
// CHECK: %[[Y:.*]] = tile.contract
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: tile.yield %[[SUM]]
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[Y]]
// CHECK: return %[[Y]], %[[R]]
func.func @two_readers(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> (tensor<20x40xf32>, tensor<20x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  %d = tensor.empty() : tensor<20x40xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<20x40xf32>) outs(%d : tensor<20x40xf32>) {
  ^bb0(%u: f32, %o: f32):
    %t = math.absf %u : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y, %r : tensor<20x40xf32>, tensor<20x40xf32>
}

// -----

// An op that stores other lanes side by side is no epilogue.
// CHECK-LABEL: func.func @other_lanes
// CHECK: %[[Y:.*]] = tile.contract
// CHECK: linalg.generic {{.*}} ins(%[[Y]]
func.func @other_lanes(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<40x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  %d = tensor.empty() : tensor<40x20xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<20x40xf32>) outs(%d : tensor<40x20xf32>) {
  ^bb0(%u: f32, %o: f32):
    %t = math.absf %u : f32
    linalg.yield %t : f32
  } -> tensor<40x20xf32>
  return %r : tensor<40x20xf32>
}

// -----

// No sum, no contraction.
// CHECK-LABEL: func.func @maximum
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @maximum(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.maximumf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// Something happens to a factor first.
// CHECK-LABEL: func.func @computed_factor
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @computed_factor(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %a0 = math.absf %u : f32
    %p = arith.mulf %a0, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// One operand is multiplied with itself.
// CHECK-LABEL: func.func @square
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @square(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %u : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// Sums start at what was there before.
// CHECK-LABEL: func.func @initial
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @initial(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>, %z: tensor<20x40xf32>) -> tensor<20x40xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// They start at one.
// CHECK-LABEL: func.func @from_one
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @from_one(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// Sizes are not known.
// CHECK-LABEL: func.func @dynamic
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @dynamic(%a: tensor<?x24xf32>, %b: tensor<24x40xf32>, %z: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%z : tensor<?x40xf32>) -> tensor<?x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x24xf32>, tensor<24x40xf32>) outs(%f : tensor<?x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// -----

// There is nothing to sum.
// CHECK-LABEL: func.func @no_terms
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @no_terms(%a: tensor<20x0xf32>, %b: tensor<0x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x0xf32>, tensor<0x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// No operand changes along the last dim of the result.
// CHECK-LABEL: func.func @no_lanes
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @no_lanes(%a: tensor<20x24xf32>, %b: tensor<24x20xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x20xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// Addresses are not linear.
// CHECK-LABEL: func.func @not_linear
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @not_linear(%a: tensor<20x24xf32>, %b: tensor<24x20xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n floordiv 2)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x20xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// The result is a scalar: there are no lanes.
// CHECK-LABEL: func.func @scalar
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
func.func @scalar(%a: tensor<24xf32>, %b: tensor<24xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a, %b : tensor<24xf32>, tensor<24xf32>) outs(%z : tensor<f32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

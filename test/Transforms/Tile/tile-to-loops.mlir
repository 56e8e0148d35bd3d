// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-tile-to-loops --canonicalize --cse --split-input-file | FileCheck %s

// A contraction: for each point of the parallel dims the products over the
// reduced ones, both factors in the sum's type first, then the epilogue.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1)>
// CHECK-LABEL: func.func @contract
// CHECK: scf.for %[[M:.*]] = %c0 to %c4 step %c1
// CHECK: scf.for %[[N:.*]] = %c0 to %c6 step %c1
// CHECK: %[[SUM:.*]] = scf.for %[[S:.*]] = %c0 to %c3 step %c1 iter_args(%[[OUTER:.*]] = %cst)
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1 iter_args(%[[OLD:.*]] = %[[OUTER]])
// CHECK: %[[AT:.*]] = affine.apply #[[ROW]](%[[M]], %[[S]])
// CHECK: %[[X:.*]] = memref.load %arg0[%[[AT]], %[[K]]]
// CHECK: %[[Y:.*]] = memref.load %arg1[%[[S]], %[[K]], %[[N]]]
// CHECK-DAG: %[[LEFT:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-DAG: %[[RIGHT:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[LEFT]], %[[RIGHT]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[P]]
// CHECK: scf.yield %[[NEW]]
// CHECK: %[[BIAS:.*]] = memref.load %arg2[%[[N]]]
// CHECK: %[[Z:.*]] = arith.addf %[[SUM]], %[[BIAS]]
// CHECK: memref.store %[[Z]], %arg3[%[[M]], %[[N]]]
// CHECK-NOT: tile.
func.func @contract(%a: memref<9x8xf16>, %b: memref<3x8x6xf16>, %p: memref<6xf32>, %c: memref<4x6xf32>) {
  tile.contract a(%a : memref<9x8xf16>) b(%b : memref<3x8x6xf16>) epilogue(%p : memref<6xf32>)
      outs(%c : memref<4x6xf32>) attributes {
    parallel = array<i64: 4, 6>, reduced = array<i64: 3, 8>,
    maps = [affine_map<(m, n, s, k) -> (m * 2 + s, k)>, affine_map<(m, n, s, k) -> (s, k, n)>,
            affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32, %x: f32):
    %z = arith.addf %sum, %x : f32
    tile.yield %z : f32
  }
  return
}

// -----

// Columns in panels, bytes without signs, and a border that gets its value
// before anything else.
// CHECK-DAG: #[[PANEL:.*]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0) -> (d0 mod 4)>
// CHECK-DAG: #[[BELOW:.*]] = affine_map<(d0) -> (d0 + 1)>
// CHECK-LABEL: func.func @panels
// CHECK: scf.for %[[I:.*]] = %c0 to %c5 step %c1
// CHECK: scf.for %[[J:.*]] = %c0 to %c6 step %c1
// CHECK: memref.store %c7_i32, %arg2[%[[I]], %[[J]]]
// CHECK: scf.for %[[M:.*]] = %c0 to %c4 step %c1
// CHECK: scf.for %[[N:.*]] = %c0 to %c6 step %c1
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK-DAG: %[[P:.*]] = affine.apply #[[PANEL]](%[[N]])
// CHECK-DAG: %[[Q:.*]] = affine.apply #[[COLUMN]](%[[N]])
// CHECK: memref.load %arg1[%[[P]], %[[K]], %[[Q]]]
// CHECK-DAG: arith.extui
// CHECK-DAG: arith.extsi
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: %[[R:.*]] = affine.apply #[[BELOW]](%[[M]])
// CHECK: memref.store %{{.*}}, %arg2[%[[R]], %[[N]]]
func.func @panels(%a: memref<4x8xi8>, %b: memref<2x8x4xi8>, %c: memref<5x6xi32>) {
  tile.contract a(%a : memref<4x8xi8>) b(%b : memref<2x8x4xi8>) outs(%c : memref<5x6xi32>) attributes {
    parallel = array<i64: 4, 6>, reduced = array<i64: 8>, aUnsigned, pad = 7 : i32,
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 4, k, n mod 4)>,
            affine_map<(m, n) -> (m + 1, n)>]} {
  ^bb0(%sum: i32):
    tile.yield %sum : i32
  }
  return
}

// -----

// The expanded program: every accumulator is memory of its own, those that
// loops carry too.
// CHECK-LABEL: func.func @steps
// CHECK: %[[NONE:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK: memref.store %cst, %[[NONE]]
// CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %[[NONE]]) -> (memref<2x3xf32>)
// CHECK: %[[PART:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK: %[[START:.*]] = memref.load %[[NONE]]
// CHECK: %[[CHUNK:.*]] = scf.for {{.*}} iter_args(%[[OLD:.*]] = %[[START]])
// CHECK: arith.mulf
// CHECK: memref.store %[[CHUNK]], %[[PART]]
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<2x3xf32>
// CHECK-DAG: %[[X:.*]] = memref.load %[[TOTAL]]
// CHECK-DAG: %[[Y:.*]] = memref.load %[[PART]]
// CHECK: %[[Z:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK: memref.store %[[Z]], %[[SUM]]
// CHECK: scf.yield %[[SUM]]
// CHECK: memref.load %[[ALL]]
// CHECK: math.absf
// CHECK: memref.store %{{.*}}, %arg2
// CHECK-NOT: tile.
func.func @steps(%a: memref<2x8xf32>, %b: memref<8x3xf32>, %c: memref<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %none = tile.init %zero : f32 to !tile.acc<2x3xf32>
  %all = scf.for %k = %c0 to %c8 step %c4 iter_args(%total = %none) -> (!tile.acc<2x3xf32>) {
    %x = memref.subview %a[0, %k] [2, 4] [1, 1] : memref<2x8xf32> to memref<2x4xf32, strided<[8, 1], offset: ?>>
    %y = memref.subview %b[%k, 0] [4, 3] [1, 1] : memref<8x3xf32> to memref<4x3xf32, strided<[3, 1], offset: ?>>
    %part = tile.step %none, %x, %y {reduced = array<i64: 4>, unroll = 4 : i64,
        aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>}
      : !tile.acc<2x3xf32>, memref<2x4xf32, strided<[8, 1], offset: ?>>, memref<4x3xf32, strided<[3, 1], offset: ?>>
    %sum = tile.add %total, %part : !tile.acc<2x3xf32>
    scf.yield %sum : !tile.acc<2x3xf32>
  }
  tile.drain %all to %c : memref<2x3xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%s: f32):
    %t = math.absf %s : f32
    tile.yield %t : f32
  } : !tile.acc<2x3xf32>
  return
}

// -----

// What lies beyond the end is zero when it is loaded, and left out in the end.
// CHECK-LABEL: func.func @beyond
// CHECK: scf.for %[[M:.*]] = %c0 to %c4
// CHECK: %[[ROWS:.*]] = memref.dim %arg0
// CHECK: arith.cmpi slt, %[[M]], %[[ROWS]]
// CHECK: %[[X:.*]] = scf.if %{{.*}} -> (f32)
// CHECK: memref.load %arg0[%[[M]],
// CHECK: else
// CHECK: scf.yield %cst
// CHECK: memref.store %[[X]], %[[ACC:.*]][%[[M]],
// CHECK: scf.for %[[M:.*]] = %c0 to %c4
// CHECK: scf.if
// CHECK: memref.load %[[ACC]][%[[M]],
// CHECK: memref.store %{{.*}}, %arg1[%[[M]],
func.func @beyond(%m: memref<?x3xf32>, %c: memref<?x3xf32>) {
  %acc = tile.load %m {map = affine_map<(m, n) -> (m, n)>, padded} : memref<?x3xf32> to !tile.acc<4x3xf32>
  tile.drain %acc to %c : memref<?x3xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>], clipped} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } : !tile.acc<4x3xf32>
  return
}

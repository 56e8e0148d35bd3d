// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-contracts --canonicalize --cse --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Parts of parts, an accumulator that subgroups share, operands that come near
// in two hops, and boxes that are whole where the result ends: what does not
// exist is zero, or left out.
// CHECK-DAG: #[[CLUSTER:.*]] = affine_map<()[s0] -> (200, s0 + 128)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0) -> (-d0 + 200, 64)>
// CHECK-DAG: #[[TERMS:.*]] = affine_map<(d0) -> (-d0 + 80, 32)>
// CHECK-LABEL: func.func @levels
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (200, 48) step (128, 32)
// CHECK: %[[END:.*]] = affine.min #[[CLUSTER]]()[%[[M]]]
// CHECK: scf.forall (%[[I:.*]]) = (%[[M]]) to (%[[END]]) step (64)
// CHECK-DAG: %[[SHARED:.*]] = tile.alloc : <4, 64x32xf32, "shared", #tile.layout<swizzle [3, 3, 3]>>
// CHECK-DAG: %[[OWN:.*]] = tile.alloc : <1, 64x32xf32, "registers">
// CHECK: tile.init %{{.*}} : f32 to <64x32xf32, groups = [group subgroup [32, 16]]>
// CHECK: %[[SUMS:.*]] = scf.for %[[K:.*]] = %c0 to %c80 step %c32
// CHECK: %[[LENGTH:.*]] = affine.min #[[ROWS]](%[[I]])
// CHECK: %[[DEPTH:.*]] = affine.min #[[TERMS]](%[[K]])
// CHECK: %[[PART:.*]] = memref.subview %arg0[%[[I]], %[[K]]] [%[[LENGTH]], %[[DEPTH]]]
// CHECK: %[[FAR:.*]], %[[T:.*]] = tile.copy %[[PART]] to %[[SHARED]] {engine = "tma", map = #{{.*}}, padded}
// CHECK: tile.wait %[[T]]
// CHECK: %[[NEAR:.*]], %[[U:.*]] = tile.copy %[[FAR]] to %[[OWN]] {map = #{{[a-z0-9]+}}}
// CHECK: tile.wait %[[U]]
// CHECK: tile.step %{{.*}}, %[[NEAR]], %{{.*}} reduced = array<i64: 32>
// CHECK: tile.drain %[[SUMS]] to %{{.*}} attributes {clipped
// CHECK: {tile.scope = "workgroup"}
// CHECK: {tile.scope = "cluster"}
func.func @levels(%a: memref<200x80xf32>, %b: memref<80x48xf32>, %c: memref<200x48xf32>) {
  tile.contract a(%a : memref<200x80xf32>) b(%b : memref<80x48xf32>) outs(%c : memref<200x48xf32>) attributes {
    parallel = array<i64: 200, 48>, reduced = array<i64: 80>, maps = [#a, #b, #c],
    strategy = #tile.strategy<"mma" m [0] n [1] k [2], grid cluster [128, 32 | _], grid workgroup [64, 32 | _],
      loop [64, 32 | 32] order [2], group subgroup [32, 16 | _],
      a: ring shared at 2 slots 4 by tma #tile.layout<swizzle [3, 3, 3]>, a: ring registers at 2 slots 1,
      b: ring shared at 2 slots 4 by tma, acc registers, masked [0, 1, 2]>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#n = affine_map<(m, n) -> (n)>
#c = affine_map<(m, n) -> (m, n)>

// Each worker sums a part of the terms, 20 at a time; the sums of the parts are
// added in their order, and only then go through the body.
// CHECK-LABEL: func.func @parts
// CHECK: %[[PARTIALS:.*]] = memref.alloc() {tile.memory = "main"} : memref<2x8x16xf32>
// CHECK: scf.forall (%[[K:.*]]) = (0) to (80) step (40)
// CHECK: scf.for %{{.*}} = %[[K]] to %{{.*}} step %c20
// CHECK: tile.step
// CHECK: tile.add
// CHECK: %[[PART:.*]] = memref.subview %[[PARTIALS]]
// CHECK: tile.drain %{{.*}} to %[[PART]]
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT: tile.yield %[[X]]
// CHECK: {tile.scope = "core"}
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c80 step %c40 iter_args(%[[TOTAL:.*]] =
// CHECK: %[[PART:.*]] = memref.subview %[[PARTIALS]]
// CHECK: %[[OWN:.*]] = tile.load %[[PART]]
// CHECK: tile.add %[[TOTAL]], %[[OWN]]
// CHECK: tile.drain %[[SUM]] epilogue
// CHECK: arith.addf
func.func @parts(%a: memref<8x80xf32>, %b: memref<80x16xf32>, %p: memref<16xf32>, %c: memref<8x16xf32>) {
  tile.contract a(%a : memref<8x80xf32>) b(%b : memref<80x16xf32>) epilogue(%p : memref<16xf32>) outs(%c : memref<8x16xf32>) attributes {
    parallel = array<i64: 8, 16>, reduced = array<i64: 80>, maps = [#a, #b, #n, #c],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [_, _ | 40], loop [8, 16 | 20] order [0, 1, 2],
      acc vectors promote 1, partials main>} {
  ^bb0(%s: f32, %q: f32):
    %y = arith.addf %s, %q : f32
    tile.yield %y : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Two loops over one dim, and over the terms: the ends of both have code of
// their own. The outer loop over terms begins fresh sums.
// CHECK-LABEL: func.func @twice
// CHECK: scf.for %[[OUTER:.*]] = %c0 to %c16 step %c8
// CHECK: scf.for %{{.*}} = %[[OUTER]] to %{{.*}} step %c4
// CHECK: scf.for %[[TERMS:.*]] = %c0 to %c32 step %c16 iter_args(%[[TOTAL:.*]] = %{{.*}})
// CHECK: %[[PART:.*]] = scf.for %{{.*}} = %[[TERMS]] to %{{.*}} step %c4
// CHECK: tile.step
// CHECK-NOT: tile.add
// CHECK: scf.yield
// CHECK: tile.add %[[TOTAL]], %[[PART]]
// The last four of 20 rows, the last six of 38 terms: four and two.
// CHECK: reduced = array<i64: 4>
// CHECK: reduced = array<i64: 2>
func.func @twice(%a: memref<20x38xf32>, %b: memref<38x4xf32>, %c: memref<20x4xf32>) {
  tile.contract a(%a : memref<20x38xf32>) b(%b : memref<38x4xf32>) outs(%c : memref<20x4xf32>) attributes {
    parallel = array<i64: 20, 4>, reduced = array<i64: 38>, maps = [#a, #b, #c],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [8, _ | _] order [0], loop [4, 4 | 16] order [0, 1, 2],
      loop [4, 4 | 4] order [2], acc vectors promote 1>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Rows are a value, at most as many as a tile has: that tile is the only one.
// CHECK-LABEL: func.func @only
// CHECK: tile.init %{{.*}} : f32 to <4x8xf32
// CHECK: tile.copy %{{.*}} padded}
// CHECK: tile.step
// CHECK: tile.drain %{{.*}} attributes {clipped
func.func @only(%a: memref<?x16xf32, strided<[16, 1]>>, %b: memref<16x8xf32>, %c: memref<?x8xf32, strided<[8, 1]>>, %m: index {exec.size = #exec.size<affine_map<()[s0] -> (s0)>, largest = 2>}) {
  tile.contract a(%a : memref<?x16xf32, strided<[16, 1]>>) b(%b : memref<16x8xf32>) outs(%c : memref<?x8xf32, strided<[8, 1]>>) attributes {
    exec.dim_parameters = array<i64: 0, -1, -1>,
    parallel = array<i64: 2, 8>, reduced = array<i64: 16>, maps = [#a, #b, #c],
    strategy = #tile.strategy<"mma" m [0] n [1] k [2], grid block [4, 8 | _], loop [4, 8 | 16] order [2],
      a: ring shared at 1 slots 2 by lanes, b: ring shared at 1 slots 2 by lanes, acc registers, masked [0]>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-contracts --canonicalize --cse --split-input-file | FileCheck %s

// Loops in the strategy's order go over whole boxes; what is left over at the end of
// a dim has a box of its own size, and its code is not written out as far.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @edges
// CHECK: scf.for %[[M:.*]] = %c0 to %c8 step %c4 {
// CHECK: %[[INIT:.*]] = tile.init %cst : f32 to <4x16xf32>
// CHECK: %[[ROWS:.*]] = memref.subview %arg0[%[[M]], 0] [4, 24]
// CHECK: %[[COLUMNS:.*]] = memref.subview %arg1[0, 0] [24, 16]
// CHECK: %[[SUMS:.*]] = tile.step %[[INIT]], %[[ROWS]], {{.*}} {aMap = #[[A]], bMap = #[[B]], reduced = array<i64: 24>, unroll = 4 : i64}
// CHECK: %[[PART:.*]] = memref.subview %arg2[%[[M]], 0] [4, 16]
// CHECK: tile.drain %[[SUMS]] to %[[PART]]
// CHECK: tile.init %cst : f32 to <2x16xf32>
// CHECK: memref.subview %arg0[8, 0] [2, 24]
// CHECK: tile.step {{.*}} unroll = 1
// CHECK: scf.for %[[M:.*]] = %c0 to %c8 step %c4 {
// CHECK: tile.init %cst : f32 to <4x4xf32>
// CHECK: memref.subview %arg1[0, 16] [24, 4]
// CHECK: tile.init %cst : f32 to <2x4xf32>
// CHECK: memref.subview %arg2[8, 16] [2, 4]
// CHECK-NOT: tile.init
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @edges(%a: memref<10x24xf32>, %b: memref<24x20xf32>, %c: memref<10x20xf32>) {
  tile.contract a(%a : memref<10x24xf32>) b(%b : memref<24x20xf32>) outs(%c : memref<10x20xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 10, 20>, reduced = array<i64: 24>,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 16 | _] order [1, 0], acc vectors, hints {unroll = 4 : i64}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Each worker has a box of rows; the last one also does what is left over.
// CHECK-DAG: #[[HIGH:.*]] = affine_map<(d0) -> (10, d0 + 8)>
// CHECK-DAG: #[[WHOLE:.*]] = affine_map<(d0) -> (8, 10, d0 + 8)>
// CHECK-LABEL: func.func @workers
// CHECK: scf.forall (%[[LOW:.*]]) = (0) to (10) step (8) {
// CHECK-DAG: %[[END:.*]] = affine.min #[[WHOLE]](%[[LOW]])
// CHECK-DAG: %[[TOP:.*]] = affine.min #[[HIGH]](%[[LOW]])
// CHECK: scf.for %{{.*}} = %[[LOW]] to %[[END]] step %c4 {
// CHECK: tile.init {{.*}} <4x16xf32>
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[TOP]], %c10
// CHECK: scf.if %[[IS_LAST]] {
// CHECK: tile.init {{.*}} <2x16xf32>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @workers(%a: memref<10x24xf32>, %b: memref<24x16xf32>, %c: memref<10x16xf32>) {
  tile.contract a(%a : memref<10x24xf32>) b(%b : memref<24x16xf32>) outs(%c : memref<10x16xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 10, 16>, reduced = array<i64: 24>,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [8, _ | _], loop [4, 16 | _] order [0, 1], acc vectors, hints {unroll = 4 : i64}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Columns of b that lie apart are copied side by side once per box of columns, and
// read by all rows.
// CHECK-DAG: #[[ACROSS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @packs
// CHECK: %[[KEYS:.*]] = memref.subview %arg1[0, 0] [16, 24]
// CHECK: %[[RING:.*]] = tile.alloc : <1, 24x16xf32, "l2">
// CHECK: %[[PANEL:.*]], %[[BEGUN:.*]] = tile.copy %{{.*}} to %[[RING]] {map = #[[ACROSS]]}
// CHECK: tile.wait %[[BEGUN]]
// CHECK: %[[SEEN:.*]] = tile.view %[[PANEL]]
// CHECK: scf.for
// CHECK: %[[CAST:.*]] = memref.cast %[[SEEN]]
// CHECK: tile.step %{{.*}}, %{{.*}}, %[[CAST]]
// CHECK: tile.release %[[PANEL]]
// CHECK: memref.subview %arg1[16, 0] [4, 24]
// CHECK: %[[EDGE:.*]], %{{.*}} = tile.copy %{{.*}} to <1, 24x4xf32, "l2">
// CHECK: scf.for
// CHECK: tile.step
// CHECK: tile.release %[[EDGE]]
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @packs(%a: memref<8x24xf32>, %b: memref<20x24xf32>, %c: memref<8x20xf32>) {
  tile.contract a(%a : memref<8x24xf32>) b(%b : memref<20x24xf32>) outs(%c : memref<8x20xf32>) attributes {
      maps = [#mk, #nk, #mn], parallel = array<i64: 8, 20>, reduced = array<i64: 24>,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [_, 16 | _] order [1], loop [4, 16 | _] order [0], b: pack l2 at 0, acc vectors, hints {unroll = 4 : i64}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Rows that nothing is summed into get the pad's value, from the first worker.
// CHECK-LABEL: func.func @pad
// CHECK: %[[FIVE:.*]] = arith.constant 5.0
// CHECK: scf.forall (%[[LOW:.*]]) = (0) to (4) step (2)
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[LOW]], %c0
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: %[[ABOVE:.*]] = memref.subview %arg2[0, 0] [1, 16]
// CHECK: linalg.generic {{.*}} outs(%[[ABOVE]]
// CHECK: linalg.yield %[[FIVE]]
// CHECK: %[[BELOW:.*]] = memref.subview %arg2[5, 0] [2, 16]
// CHECK: linalg.generic {{.*}} outs(%[[BELOW]]
// CHECK: scf.for
// CHECK: tile.drain
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @pad(%a: memref<4x24xf32>, %b: memref<24x16xf32>, %c: memref<7x16xf32>) {
  tile.contract a(%a : memref<4x24xf32>) b(%b : memref<24x16xf32>) outs(%c : memref<7x16xf32>) attributes {
      maps = [#mk, #kn, affine_map<(m, n) -> (m + 1, n)>], parallel = array<i64: 4, 16>, reduced = array<i64: 24>, pad = 5.0 : f32,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [2, _ | _], loop [2, 16 | _] order [0, 1], acc vectors, hints {unroll = 4 : i64}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Chunks start at zero and join the total at their end; the epilogue comes after
// the last.
// CHECK-LABEL: func.func @chunks
// CHECK: %[[NONE:.*]] = tile.init %cst : f32 to <4x16xf32>
// CHECK: %[[ALL:.*]] = scf.for %[[R:.*]] = %c0 to %c2 step %c1 iter_args(%[[OUTER:.*]] = %[[NONE]])
// CHECK: scf.for %[[K:.*]] = %c0 to %c24 step %c8 iter_args(%[[TOTAL:.*]] = %[[OUTER]])
// CHECK: memref.subview %arg0[0, %[[R]], %[[K]]] [4, 1, 8]
// CHECK: %[[PART:.*]] = tile.step %[[NONE]], {{.*}} reduced = array<i64: 1, 8>
// CHECK: %[[SUM:.*]] = tile.add %[[TOTAL]], %[[PART]]
// CHECK: scf.yield %[[SUM]]
// CHECK: tile.drain %[[ALL]] epilogue(
// CHECK: arith.addf
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @chunks(%a: memref<4x2x24xf32>, %b: memref<2x24x16xf32>, %p: memref<16xf32>, %c: memref<4x16xf32>) {
  tile.contract a(%a : memref<4x2x24xf32>) b(%b : memref<2x24x16xf32>) epilogue(%p : memref<16xf32>) outs(%c : memref<4x16xf32>) attributes {
      maps = [affine_map<(m, n, r, k) -> (m, r, k)>, affine_map<(m, n, r, k) -> (r, k, n)>, affine_map<(m, n) -> (n)>, #mn],
      parallel = array<i64: 4, 16>, reduced = array<i64: 2, 24>,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2, 3], loop [4, 16 | 1, 8] order [0, 1, 2, 3], acc vectors promote 0, hints {unroll = 4 : i64}>} {
  ^bb0(%s: f32, %x: f32):
    %t = arith.addf %s, %x : f32
    tile.yield %t : f32
  }
  return
}

// -----

// Where a map goes backwards, the part begins at its last place.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, -d2 + 23)>
// CHECK-LABEL: func.func @backwards
// CHECK: memref.subview %arg0[%{{.*}}, 0] [2, 24]
// CHECK: tile.step {{.*}} {aMap = #[[A]]
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @backwards(%a: memref<4x24xf32>, %b: memref<24x16xf32>, %c: memref<4x16xf32>) {
  tile.contract a(%a : memref<4x24xf32>) b(%b : memref<24x16xf32>) outs(%c : memref<4x16xf32>) attributes {
      maps = [affine_map<(m, n, k) -> (m, 23 - k)>, #kn, #mn], parallel = array<i64: 4, 16>, reduced = array<i64: 24>,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [2, 16 | _] order [0, 1], acc vectors, hints {unroll = 4 : i64}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// A box of columns is one panel of b; the last panel's filling is not touched.
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (0, d2, d1)>
// CHECK-LABEL: func.func @panels
// CHECK: memref.subview %arg1[0, 0, 0] [1, 24, 16]
// CHECK: tile.step {{.*}} bMap = #[[B]]
// CHECK: memref.subview %arg1[1, 0, 0] [1, 24, 4]
// CHECK: tile.step {{.*}} bMap = #[[B]]
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @panels(%a: memref<4x24xf32>, %b: memref<2x24x16xf32>, %c: memref<4x20xf32>) {
  tile.contract a(%a : memref<4x24xf32>) b(%b : memref<2x24x16xf32>) outs(%c : memref<4x20xf32>) attributes {
      maps = [#mk, affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>, #mn], parallel = array<i64: 4, 20>, reduced = array<i64: 24>,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 16 | _] order [0, 1], acc vectors, hints {unroll = 4 : i64}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Rings of both operands: a's for a tile of rows and all terms, b's for a tile of
// terms, both in front of all loops. Sums go through all tiles of terms.
// CHECK-LABEL: func.func @rings
// CHECK-DAG: %[[RA:.*]] = tile.alloc : <2, 4x24xf32, "near">
// CHECK-DAG: %[[RB:.*]] = tile.alloc : <3, 8x8xf32, "near">
// CHECK: scf.for %[[M:.*]] =
// CHECK-NEXT: memref.subview %arg0[%[[M]], 0] [4, 24]
// CHECK-NEXT: %[[SA:.*]], %[[TA:.*]] = tile.copy %{{.*}} to %[[RA]]
// CHECK-NEXT: tile.wait %[[TA]]
// CHECK: scf.for %[[N:.*]] =
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[SUMS:.*]] =
// CHECK-NEXT: memref.subview %arg1[%[[K]], %[[N]]] [8, 8]
// CHECK-NEXT: %[[SB:.*]], %[[TB:.*]] = tile.copy %{{.*}} to %[[RB]]
// CHECK-NEXT: tile.wait %[[TB]]
// CHECK: %[[NEXT:.*]] = tile.step %[[SUMS]], %[[SA]][%{{.*}}, %[[K]]], %[[SB]] {
// CHECK-NEXT: tile.release %[[SB]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: tile.drain
// CHECK: tile.release %[[SA]]
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @rings(%a: memref<8x24xf32>, %b: memref<24x16xf32>, %c: memref<8x16xf32>) {
  tile.contract a(%a : memref<8x24xf32>) b(%b : memref<24x16xf32>) outs(%c : memref<8x16xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 8, 16>, reduced = array<i64: 24>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [4, _ | _] order [0], loop [4, 8 | 8] order [1, 2], a: ring near at 0 slots 2, b: ring near at 1 slots 3, acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Of no terms the sums are zero, of no rows there is the border alone; nothing
// is packed.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: tile.step
// CHECK: tile.drain
// CHECK-NOT: tile.copy
// CHECK: linalg.generic
// CHECK-NOT: tile.drain
// CHECK: return
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @nothing(%a: memref<8x0xf32>, %b: memref<0x16xf32>, %c: memref<8x16xf32>,
                   %d: memref<0x4xf32>, %e: memref<4x16xf32>, %f: memref<2x16xf32>) {
  tile.contract a(%a : memref<8x0xf32>) b(%b : memref<0x16xf32>) outs(%c : memref<8x16xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 8, 16>, reduced = array<i64: 0>,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [_, 8 | _] order [1], loop [4, 8 | _] order [0], a: ring near at 1 slots 2, b: pack l2 at 0, acc vectors>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  tile.contract a(%d : memref<0x4xf32>) b(%e : memref<4x16xf32>) outs(%f : memref<2x16xf32>) attributes {
      maps = [#mk, #kn, affine_map<(m, n) -> (m + 1, n)>], parallel = array<i64: 0, 16>, reduced = array<i64: 4>, pad = 1.0 : f32,
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 16 | _] order [0, 1], acc vectors>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

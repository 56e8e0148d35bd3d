// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-distribute-lanes="lanes=32 groups=8 shuffles scopes=warp=32,warpgroup=128 stores=tma-store memory=65536" | FileCheck %s
// RUN: ashlar-opt %s --ashlar-distribute-lanes="lanes=32 groups=8 shuffles scopes=warp=32,warpgroup=128 stores=tma-store memory=8192" | FileCheck %s --check-prefix=FULL
// RUN: ashlar-opt %s --ashlar-distribute-lanes="lanes=32 groups=8 shuffles scopes=warp=32,warpgroup=128 stores=other memory=65536" | FileCheck %s --check-prefix=FULL

// Results leave by boxes of 16 rows and 64 columns: each warp has two places for
// one, of 2,048 bytes. It waits until both are free, which boxes of the part
// before may have, stores four matrices at a time into rows whose pieces are
// exchanged by their number, meets, and one lane tells the engine. For the next
// box the other place must be free. Behind the last part nothing is read any more.
// CHECK: exec.kernel @unit
// CHECK-SAME: #exec.tensor_map<2 : bf16, sizes [136, 40], strides [2, 272], box[64, 16], swizzle 128>
// CHECK-LABEL: func.func @unit_body(
// CHECK: scf.forall
// CHECK-NEXT: %[[BOXES:.*]] = memref.alloc() {alignment = 1024 : i64} : memref<4096xi16, 3>
// CHECK: scf.if
// CHECK: tile.thread_box_wait %[[BOXES]] but 0
// CHECK: tile.thread_lanes_meet
// CHECK-COUNT-4: tile.thread_matrix_store %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} to %[[BOXES]]
// CHECK-NOT: thread_matrix_store
// CHECK: tile.thread_lanes_meet published
// CHECK: scf.if
// CHECK: tile.thread_box_store %[[BOXES]][%{{.*}}], %arg2[%{{.*}}, %{{.*}}] map 2
// CHECK: scf.if
// CHECK: tile.thread_box_wait %[[BOXES]] but 1
// CHECK: tile.thread_lanes_meet
// CHECK-COUNT-4: tile.thread_matrix_store
// CHECK: tile.thread_lanes_meet published
// CHECK: tile.thread_box_store
// CHECK: tile.thread_box_wait %[[BOXES]] but 0
// CHECK-NEXT: } {tile.once = "end"}
// CHECK: return
// Where rings leave no memory for it, and where there is no such engine, lanes
// store what they have exchanged.
// FULL-LABEL: func.func @unit_body(
// FULL-NOT: thread_matrix_store
// FULL: gpu.shuffle
// FULL: vector.store
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
!sums = !tile.acc<32x128xf32, groups = [group warp [16, 128]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
!left = !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
!right = !tile.slot<16x128xbf16, "shared", #tile.layout<block 64, swizzle [3, 3, 3]>>
exec.kernel @unit calls @unit_body : (memref<32x64xbf16>, memref<64x136xbf16>) -> memref<40x136xbf16>
func.func @unit_body(%a: memref<32x64xbf16>, %b: memref<64x136xbf16>, %c: memref<40x136xbf16>) attributes {tile.threads} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x128xbf16, "shared", #tile.layout<block 64, swizzle [3, 3, 3]>>
  scf.forall (%part) in (1) {
  %none = tile.init %zero : f32 to !sums
  tile.role "producer" concurrent by <producer warp x 1> {
    scf.for %k = %c0 to %c64 step %c16 {
      %va = memref.subview %a[0, %k] [32, 16] [1, 1] : memref<32x64xbf16> to memref<32x16xbf16, strided<[64, 1], offset: ?>>
      %s0, %t0 = tile.copy %va to %ra {engine = "tma", map = #mn} : memref<32x16xbf16, strided<[64, 1], offset: ?>> to <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      %vb = memref.subview %b[%k, 0] [16, 128] [1, 1] : memref<64x136xbf16> to memref<16x128xbf16, strided<[136, 1], offset: ?>>
      %s1, %t1 = tile.copy %vb to %rb {engine = "tma", map = #mn} : memref<16x128xbf16, strided<[136, 1], offset: ?>> to <2, 16x128xbf16, "shared", #tile.layout<block 64, swizzle [3, 3, 3]>>
    }
  }
  tile.role "consumer" concurrent by <consumer warp x 2> {
    %all = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %none) -> !sums {
      %x0 = tile.take %ra : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      %x1 = tile.take %rb : <2, 16x128xbf16, "shared", #tile.layout<block 64, swizzle [3, 3, 3]>>
      %sum = tile.step %acc, %x0, %x1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !left, !right
      tile.release %x0 : <32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      tile.release %x1 : <16x128xbf16, "shared", #tile.layout<block 64, swizzle [3, 3, 3]>>
      scf.yield %sum : !sums
    }
    %vc = memref.subview %c[8, 0] [32, 128] [1, 1] : memref<40x136xbf16> to memref<32x128xbf16, strided<[136, 1], offset: 1088>>
    tile.drain %all to %vc : memref<32x128xbf16, strided<[136, 1], offset: 1088>> attributes {maps = [#mn], tile.stores = "tma-store"} {
    ^bb0(%s: f32):
      %z = arith.truncf %s : f32 to bf16
      tile.yield %z : bf16
    } : !sums
  }
  }
  return
}

// Of a convolution a box may be rows of pixels: four lines of 14 of the 16 rows
// that a warp has are two each here, and what lies behind a line's end is cut
// off.
// CHECK: exec.kernel @window
// CHECK-SAME: #exec.tensor_map<2 : bf16, sizes [64, 7, 14, 3], strides [2, 128, 896, 12544], box[64, 8, 2, 1], swizzle 128>
// CHECK-LABEL: func.func @window_body(
// CHECK: tile.thread_box_store %{{.*}}[%{{.*}}], %arg2[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] map 2
// FULL-LABEL: func.func @window_body(
// FULL-NOT: thread_box_store
// FULL: vector.store
// Where pixels lie one column below the other, rows of a part are no box.
// CHECK-LABEL: func.func @turned_body(
// CHECK-NOT: thread_box_store
// CHECK: vector.store
#amk = affine_map<(n, y, x, c, k) -> (n, y, x, k)>
#akn = affine_map<(n, y, x, c, k) -> (k, c)>
#out = affine_map<(n, y, x, c) -> (n, y, x, c)>
#turn = affine_map<(n, y, x, c) -> (n, x, y, c)>
!pixels = !tile.acc<1x4x8x64xf32, groups = [group warp [1, 2, 8, 64]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
!image = !tile.slot<1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
!weight = !tile.slot<16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
exec.kernel @window calls @window_body : (memref<3x14x8x16xbf16>, memref<16x64xbf16>) -> memref<3x14x7x64xbf16>
func.func @window_body(%a: memref<3x14x8x16xbf16>, %b: memref<16x64xbf16>, %c: memref<3x14x7x64xbf16>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
  scf.forall (%part) in (1) {
  %none = tile.init %zero : f32 to !pixels
  tile.role "producer" concurrent by <producer warp x 1> {
    %va = memref.subview %a[1, 4, 0, 0] [1, 4, 8, 16] [1, 1, 1, 1] : memref<3x14x8x16xbf16> to memref<1x4x8x16xbf16, strided<[1792, 128, 16, 1], offset: 2304>>
    %s0, %t0 = tile.copy %va to %ra {engine = "tma", map = #out} : memref<1x4x8x16xbf16, strided<[1792, 128, 16, 1], offset: 2304>> to <2, 1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    %s1, %t1 = tile.copy %b to %rb {engine = "tma", map = affine_map<(m, n) -> (m, n)>} : memref<16x64xbf16> to <2, 16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
  }
  tile.role "consumer" concurrent by <consumer warp x 2> {
    %x0 = tile.take %ra : <2, 1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    %x1 = tile.take %rb : <2, 16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
    %sum = tile.step %none, %x0, %x1 {aMap = #amk, bMap = #akn, reduced = array<i64: 16>, unroll = 1 : i64} : !pixels, !image, !weight
    tile.release %x0 : <1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    tile.release %x1 : <16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
    %vc = memref.subview %c[1, 4, 0, 0] [1, 4, 7, 64] [1, 1, 1, 1] : memref<3x14x7x64xbf16> to memref<1x4x7x64xbf16, strided<[6272, 448, 64, 1], offset: 8064>>
    tile.drain %sum to %vc : memref<1x4x7x64xbf16, strided<[6272, 448, 64, 1], offset: 8064>> attributes {clipped, maps = [#out], tile.stores = "tma-store"} {
    ^bb0(%s: f32):
      %z = arith.truncf %s : f32 to bf16
      tile.yield %z : bf16
    } : !pixels
  }
  }
  return
}
exec.kernel @turned calls @turned_body : (memref<3x14x8x16xbf16>, memref<16x64xbf16>) -> memref<3x8x14x64xbf16>
func.func @turned_body(%a: memref<3x14x8x16xbf16>, %b: memref<16x64xbf16>, %c: memref<3x8x14x64xbf16>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
  scf.forall (%part) in (1) {
  %none = tile.init %zero : f32 to !pixels
  tile.role "producer" concurrent by <producer warp x 1> {
    %va = memref.subview %a[1, 4, 0, 0] [1, 4, 8, 16] [1, 1, 1, 1] : memref<3x14x8x16xbf16> to memref<1x4x8x16xbf16, strided<[1792, 128, 16, 1], offset: 2304>>
    %s0, %t0 = tile.copy %va to %ra {engine = "tma", map = #out} : memref<1x4x8x16xbf16, strided<[1792, 128, 16, 1], offset: 2304>> to <2, 1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    %s1, %t1 = tile.copy %b to %rb {engine = "tma", map = affine_map<(m, n) -> (m, n)>} : memref<16x64xbf16> to <2, 16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
  }
  tile.role "consumer" concurrent by <consumer warp x 2> {
    %x0 = tile.take %ra : <2, 1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    %x1 = tile.take %rb : <2, 16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
    %sum = tile.step %none, %x0, %x1 {aMap = #amk, bMap = #akn, reduced = array<i64: 16>, unroll = 1 : i64} : !pixels, !image, !weight
    tile.release %x0 : <1x4x8x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    tile.release %x1 : <16x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
    %vc = memref.subview %c[1, 0, 4, 0] [1, 8, 4, 64] [1, 1, 1, 1] : memref<3x8x14x64xbf16> to memref<1x8x4x64xbf16, strided<[7168, 896, 64, 1], offset: 7424>>
    tile.drain %sum to %vc : memref<1x8x4x64xbf16, strided<[7168, 896, 64, 1], offset: 7424>> attributes {maps = [#turn], tile.stores = "tma-store"} {
    ^bb0(%s: f32):
      %z = arith.truncf %s : f32 to bf16
      tile.yield %z : bf16
    } : !pixels
  }
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-split-roles | FileCheck %s
// RUN: ashlar-opt %s --ashlar-split-roles --ashlar-inline-roles --ashlar-expand-copies --ashlar-tile-to-loops > %t.split
// RUN: ashlar-opt %s --ashlar-expand-copies --ashlar-tile-to-loops > %t.plain
// RUN: diff %t.split %t.plain

// The copies and their addresses go to one role, what reads them to another;
// the row's number, which both need, stays before them.
// CHECK-LABEL: func.func @product
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[K]]
// CHECK-NEXT: %[[HANDED:.*]]:2 = tile.role "producer" {
// CHECK-NEXT: %[[PART:.*]] = memref.subview %{{.*}}[%[[ROW]], 0]
// CHECK-NEXT: %[[SLOT:.*]], %[[TOKEN:.*]] = tile.copy %[[PART]]
// CHECK-NEXT: tile.hand_over %[[SLOT]], %[[TOKEN]]
// CHECK: %[[NEXT:.*]] = tile.role "consumer" {
// CHECK: memref.subview %{{.*}}[0, %[[ROW]]]
// CHECK: tile.wait %[[HANDED]]#1
// CHECK-NEXT: %[[SUM:.*]] = tile.step %[[ACC]], %{{.*}}, %[[HANDED]]#0
// CHECK-NEXT: tile.release %[[HANDED]]#0
// CHECK-NEXT: tile.hand_over %[[SUM]]
// CHECK: scf.yield %[[NEXT]]
func.func @product(%a: memref<4x32xf32>, %b: memref<32x8xf32>, %d: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %ring = tile.alloc : !tile.ring<2, 8x8xf32>
  %0 = tile.init %zero : f32 to !tile.acc<4x8xf32>
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %0) -> (!tile.acc<4x8xf32>) {
    %row = arith.muli %k, %c8 : index
    %part = memref.subview %b[%row, 0] [8, 8] [1, 1] : memref<32x8xf32> to memref<8x8xf32, strided<[8, 1], offset: ?>>
    %slot, %begun = tile.copy %part to %ring {map = affine_map<(k, n) -> (k, n)>}
      : memref<8x8xf32, strided<[8, 1], offset: ?>> to !tile.ring<2, 8x8xf32>
    %left = memref.subview %a[0, %row] [4, 8] [1, 1] : memref<4x32xf32> to memref<4x8xf32, strided<[32, 1], offset: ?>>
    tile.wait %begun
    %1 = tile.step %acc, %left, %slot {reduced = array<i64: 8>, unroll = 1,
        aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>}
      : !tile.acc<4x8xf32>, memref<4x8xf32, strided<[32, 1], offset: ?>>, !tile.slot<8x8xf32>
    tile.release %slot : !tile.slot<8x8xf32>
    scf.yield %1 : !tile.acc<4x8xf32>
  }
  tile.drain %sum to %d : memref<4x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%v: f32):
    tile.yield %v : f32
  } : !tile.acc<4x8xf32>
  return
}

// One slot leaves nothing to run ahead in.
// CHECK-LABEL: func.func @one_slot
// CHECK-NOT: tile.role
func.func @one_slot(%b: memref<8xf32>, %d: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %ring = tile.alloc : !tile.ring<1, 8xf32>
  scf.for %k = %c0 to %c4 step %c1 {
    %slot, %begun = tile.copy %b to %ring {map = affine_map<(n) -> (n)>}
      : memref<8xf32> to !tile.ring<1, 8xf32>
    tile.wait %begun
    %m = tile.view %slot : !tile.slot<8xf32> to memref<8xf32>
    memref.copy %m, %d : memref<8xf32> to memref<8xf32>
    tile.release %slot : !tile.slot<8xf32>
  }
  return
}

// What is copied depends on the iteration before.
// CHECK-LABEL: func.func @dependent
// CHECK-NOT: tile.role
func.func @dependent(%b: memref<32xf32>, %d: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %ring = tile.alloc : !tile.ring<2, 8xf32>
  %end = scf.for %k = %c0 to %c4 step %c1 iter_args(%at = %c0) -> (index) {
    %part = memref.subview %b[%at] [8] [1] : memref<32xf32> to memref<8xf32, strided<[1], offset: ?>>
    %slot, %begun = tile.copy %part to %ring {map = affine_map<(n) -> (n)>}
      : memref<8xf32, strided<[1], offset: ?>> to !tile.ring<2, 8xf32>
    tile.wait %begun
    %m = tile.view %slot : !tile.slot<8xf32> to memref<8xf32>
    memref.copy %m, %d : memref<8xf32> to memref<8xf32>
    tile.release %slot : !tile.slot<8xf32>
    %next = arith.addi %at, %k : index
    scf.yield %next : index
  }
  return
}

// What the iteration writes in front of its copy.
// CHECK-LABEL: func.func @written
// CHECK-NOT: tile.role
func.func @written(%x: memref<4xf32>, %o: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 7.0 : f32
  %r = tile.alloc : !tile.ring<2, 1xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %z, %x[%i] : memref<4xf32>
    %v = memref.subview %x[%i] [1] [1] : memref<4xf32> to memref<1xf32, strided<[1], offset: ?>>
    %s, %t = tile.copy %v to %r {map = affine_map<(d) -> (d)>} : memref<1xf32, strided<[1], offset: ?>> to !tile.ring<2, 1xf32>
    tile.wait %t
    %m = tile.view %s : !tile.slot<1xf32> to memref<1xf32>
    %0 = memref.load %m[%c0] : memref<1xf32>
    memref.store %0, %o[%i] : memref<4xf32>
    tile.release %s : !tile.slot<1xf32>
  }
  return
}

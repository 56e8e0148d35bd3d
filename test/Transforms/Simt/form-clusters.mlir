// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-form-clusters | FileCheck %s

// Workgroups of a cluster are neighbours of one loop, which says how many they
// are where they share copies.
// CHECK-LABEL: func.func @shared
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]], %[[RANK:.*]]) = (0, 0, 0) to (16, 8, 2) step (8, 8, 1) {
// CHECK: %[[AT:.*]] = affine.apply {{.*}}()[%[[M]], %[[RANK]]]
// CHECK: tile.alloc
// CHECK: memref.subview %{{.*}}[%[[N]], 0]
// CHECK: tile.copy {{.*}}multicast
// CHECK: memref.subview %{{.*}}[%[[AT]], %[[N]]]
// CHECK: } {tile.cluster = 2 : i64, tile.scope = "block"}
// CHECK-NOT: scf.forall
func.func @shared(%b: memref<8x4xf32>, %c: memref<16x8xf32>) {
  scf.forall (%m, %n) = (0, 0) to (16, 8) step (8, 8) {
    %end = affine.apply affine_map<(m) -> (m + 8)>(%m)
    scf.forall (%i) = (%m) to (%end) step (4) {
      %ring = tile.alloc : !tile.ring<2, 8x4xf32, "near">
      %part = memref.subview %b[%n, 0] [8, 4] [1, 1] : memref<8x4xf32> to memref<8x4xf32, strided<[4, 1], offset: ?>>
      %slot, %begun = tile.copy %part to %ring {engine = "tma", map = affine_map<(n, k) -> (n, k)>, multicast}
        : memref<8x4xf32, strided<[4, 1], offset: ?>> to !tile.ring<2, 8x4xf32, "near">
      tile.wait %begun
      %near = tile.view %slot : !tile.slot<8x4xf32, "near"> to memref<8x4xf32>
      %out = memref.subview %c[%i, %n] [4, 8] [1, 1] : memref<16x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
      linalg.transpose ins(%near : memref<8x4xf32>) outs(%out : memref<4x8xf32, strided<[8, 1], offset: ?>>) permutation = [1, 0]
      tile.release %slot : !tile.slot<8x4xf32, "near">
    } {tile.scope = "block"}
  } {tile.scope = "cluster"}
  return
}

// -----

// One level whose workers share copies is one cluster; without such it is none.
// CHECK-LABEL: func.func @one
// CHECK: scf.forall (%{{.*}}) in (2) {
// CHECK: } {tile.cluster = 2 : i64}
// CHECK: scf.forall (%{{.*}}) in (2) {
// CHECK-NOT: tile.cluster
// CHECK: return
func.func @one(%b: memref<8x4xf32>, %c: memref<2xf32>) {
  %x = arith.constant 1.0 : f32
  scf.forall (%i) in (2) {
    %ring = tile.alloc : !tile.ring<1, 8x4xf32, "near">
    %slot, %begun = tile.copy %b to %ring {engine = "tma", map = affine_map<(n, k) -> (n, k)>, multicast}
      : memref<8x4xf32> to !tile.ring<1, 8x4xf32, "near">
    tile.wait %begun
    tile.release %slot : !tile.slot<8x4xf32, "near">
  }
  scf.forall (%i) in (2) {
    memref.store %x, %c[%i] : memref<2xf32>
  }
  return
}

// -----

// How many there are is not known: one goes through all of them, for itself.
// CHECK-LABEL: func.func @open
// CHECK: scf.forall (%{{.*}}) = (0) to (16) step (8) {
// CHECK: scf.for
// CHECK: tile.copy
// CHECK-NOT: multicast
// CHECK-NOT: tile.cluster
func.func @open(%b: memref<8x4xf32>, %size: index) {
  scf.forall (%m) = (0) to (16) step (8) {
    %end = affine.min affine_map<(m)[s] -> (m + 8, s)>(%m)[%size]
    scf.forall (%i) = (%m) to (%end) step (4) {
      %ring = tile.alloc : !tile.ring<1, 8x4xf32, "near">
      %slot, %begun = tile.copy %b to %ring {engine = "tma", map = affine_map<(n, k) -> (n, k)>, multicast}
        : memref<8x4xf32> to !tile.ring<1, 8x4xf32, "near">
      tile.wait %begun
      tile.release %slot : !tile.slot<8x4xf32, "near">
    }
  }
  return
}

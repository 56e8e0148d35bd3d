// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-expand-contracts --ashlar-pipeline-copies --canonicalize | FileCheck %s

// Three slots: two copies have begun when the first iteration waits for its own.
// CHECK-LABEL: func.func @product
// CHECK: %[[RING:.*]] = tile.alloc : <3, 8x8xf32, "shared">
// CHECK: %[[S0:.*]], %[[T0:.*]] = tile.copy %{{.*}} to %[[RING]]
// CHECK: %[[S1:.*]], %[[T1:.*]] = tile.copy %{{.*}} to %[[RING]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[TA:.*]] = %[[T0]], %[[TB:.*]] = %[[T1]], %[[SA:.*]] = %[[S0]], %[[SB:.*]] = %[[S1]])
// CHECK: %[[S2:.*]], %[[T2:.*]] = tile.copy %{{.*}} to %[[RING]]
// CHECK: tile.wait %[[TA]]
// CHECK: tile.step %{{.*}}, %{{.*}}, %[[SA]]
// CHECK: tile.release %[[SA]]
// CHECK: scf.yield %{{.*}}, %[[TB]], %[[T2]], %[[SB]], %[[S2]]
// CHECK: tile.wait
// CHECK: tile.step
// CHECK: tile.release
// CHECK: tile.wait
// CHECK: tile.step
// CHECK: tile.release
// CHECK-NOT: tile.copy
// CHECK: return
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @product(%a: memref<4x64xf32>, %b: memref<64x8xf32>, %c: memref<4x8xf32>) {
  tile.contract a(%a : memref<4x64xf32>) b(%b : memref<64x8xf32>) outs(%c : memref<4x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 4, 8>, reduced = array<i64: 64>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [4, 8 | 8] order [0, 1, 2], b: ring shared at 0 slots 3, acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// One iteration is nothing to run ahead of.
// CHECK-LABEL: func.func @short
// CHECK-COUNT-1: tile.copy
// CHECK-NOT: tile.copy
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @short(%a: memref<4x8xf32>, %b: memref<8x8xf32>, %c: memref<4x8xf32>) {
  tile.contract a(%a : memref<4x8xf32>) b(%b : memref<8x8xf32>) outs(%c : memref<4x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 4, 8>, reduced = array<i64: 8>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [4, 8 | 8] order [0, 1, 2], b: ring shared at 0 slots 3, acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// What an iteration writes, the next one copies.
// CHECK-LABEL: func.func @written
// CHECK: scf.for
// CHECK-NEXT: memref.subview
// CHECK-NEXT: tile.copy
// CHECK-NEXT: tile.wait
func.func @written(%x: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %ring = tile.alloc : !tile.ring<2, 8xf32>
  scf.for %k = %c0 to %c24 step %c8 {
    %from = memref.subview %x[%k] [8] [1] : memref<32xf32> to memref<8xf32, strided<[1], offset: ?>>
    // expected-remark@+1 {{does not run ahead: what it copies is made by the kernel}}
    %slot, %begun = tile.copy %from to %ring {map = affine_map<(n) -> (n)>}
      : memref<8xf32, strided<[1], offset: ?>> to !tile.ring<2, 8xf32>
    tile.wait %begun
    %next = arith.addi %k, %c8 : index
    %to = memref.subview %x[%next] [8] [1] : memref<32xf32> to memref<8xf32, strided<[1], offset: ?>>
    %m = tile.view %slot : !tile.slot<8xf32> to memref<8xf32>
    memref.copy %m, %to : memref<8xf32> to memref<8xf32, strided<[1], offset: ?>>
    tile.release %slot : !tile.slot<8xf32>
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-expand-contracts --ashlar-hoist-roles --canonicalize | FileCheck %s

// Both operands come through rings in tiles of terms: the copies get loops of
// their own, and what reads them takes their slots in the same order.
// CHECK-LABEL: func.func @product
// CHECK: scf.forall
// CHECK-DAG: %[[RA:.*]] = tile.alloc : <2, 4x8xf32, "shared">
// CHECK-DAG: %[[RB:.*]] = tile.alloc : <3, 8x8xf32, "shared", #tile.layout<swizzle [3, 3, 3]>>
// CHECK: tile.role "producer" concurrent {
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK: tile.copy %{{.*}} to %[[RA]]
// CHECK: tile.copy %{{.*}} to %[[RB]]
// CHECK-NOT: tile.step
// CHECK: tile.role "consumer" concurrent {
// CHECK-NOT: tile.copy
// CHECK: scf.for {{.*}} iter_args
// CHECK-NEXT: %[[SA:.*]] = tile.take %[[RA]]
// CHECK-NEXT: %[[SB:.*]] = tile.take %[[RB]]
// CHECK-NEXT: tile.step %{{.*}}, %[[SA]], %[[SB]]
// CHECK-NEXT: tile.release %[[SA]]
// CHECK-NEXT: tile.release %[[SB]]
// CHECK: tile.drain
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @product(%a: memref<16x32xf32>, %b: memref<32x8xf32>, %c: memref<16x8xf32>) {
  tile.contract a(%a : memref<16x32xf32>) b(%b : memref<32x8xf32>) outs(%c : memref<16x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 16, 8>, reduced = array<i64: 32>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], grid workgroup [8, _ | _], loop [4, 8 | 8] order [0, 1, 2], a: ring shared at 1 slots 2, b: ring shared at 1 slots 3 #tile.layout<swizzle [3, 3, 3]>, acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// What one contraction makes and another copies cannot be fetched ahead.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @chained
// CHECK-NOT: tile.role
func.func @chained(%a: memref<4x8xf32>, %b: memref<8x8xf32>, %d: memref<4x8xf32>) {
  %c = memref.alloc() : memref<4x8xf32>
  tile.contract a(%a : memref<4x8xf32>) b(%b : memref<8x8xf32>) outs(%c : memref<4x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 4, 8>, reduced = array<i64: 8>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [4, 8 | _] order [0, 1], acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  // expected-remark@+1 {{does not run ahead: what it copies is made by the kernel}}
  tile.contract a(%c : memref<4x8xf32>) b(%b : memref<8x8xf32>) outs(%d : memref<4x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 4, 8>, reduced = array<i64: 8>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [2, 8 | _] order [0, 1], a: ring shared at 0 slots 2, acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Nothing to do, and nothing that can be moved behind the end of a function.
// CHECK-LABEL: func.func private @declared
func.func private @declared(%x: memref<8xf32>)
// CHECK-LABEL: func.func @returned
// CHECK-NOT: tile.role
func.func @returned(%x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = tile.alloc : !tile.ring<2, 4xf32>
  // expected-remark@+1 {{does not run ahead: the function returns what it computes}}
  %s, %t = tile.copy %x to %r {map = affine_map<(d) -> (d)>} : memref<4xf32> to !tile.ring<2, 4xf32>
  tile.wait %t
  %m = tile.view %s : !tile.slot<4xf32> to memref<4xf32>
  %0 = memref.load %m[%c0] : memref<4xf32>
  tile.release %s : !tile.slot<4xf32>
  return %0 : f32
}

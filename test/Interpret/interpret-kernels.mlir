// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --verify-roundtrip --ashlar-interpret-kernels="schedules=60" 2>&1 >/dev/null | FileCheck %s

// RUN: not ashlar-opt %s --ashlar-interpret-kernels="through=func.func(cse)" 2>&1 >/dev/null | FileCheck %s --check-prefix=NESTED
// RUN: not ashlar-opt %s --ashlar-interpret-kernels="schedules=0" 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
// NESTED: error: expected passes on functions in 'through', without func.func(..) around them
// NONE: error: expected one schedule or more and a tolerance of 0 or more

// Programs of level 3 give the numbers of the contraction under every schedule.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
#swizzled = #tile.layout<swizzle [3, 3, 3]>
#padded = #tile.layout<order [1, 0], pad [2, 0]>
!a = memref<4x24xf32>
!b = memref<24x8xf32>
!c = memref<4x8xf32>
!partA = memref<4x8xf32, strided<[24, 1], offset: ?>>
!partB = memref<8x8xf32, strided<[8, 1], offset: ?>>
!ringA = !tile.ring<2, 4x8xf32, "shared", #padded>
!slotA = !tile.slot<4x8xf32, "shared", #padded>
!ringB = !tile.ring<3, 8x8xf32, "shared", #swizzled>
!slotB = !tile.slot<8x8xf32, "shared", #swizzled>
!acc = !tile.acc<4x8xf32>

func.func private @product(%a: !a, %b: !b, %c: !c) {
  tile.contract a(%a : !a) b(%b : !b) outs(%c : !c) attributes {
      parallel = array<i64: 4, 8>, reduced = array<i64: 24>, maps = [#mk, #kn, #mn]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// The next copies run while a step does; a slot is free once its step is done.
// CHECK: 'pipelined' interpreted under 60 schedules: largest difference {{.*}}e-0{{[7-9]}}
func.func @pipelined(%a: !a, %b: !b, %c: !c) attributes {reference = @product} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : !ringA
  %rb = tile.alloc : !ringB
  %none = tile.init %zero : f32 to !acc
  %a0 = memref.subview %a[0, %c0] [4, 8] [1, 1] : !a to !partA
  %b0 = memref.subview %b[%c0, 0] [8, 8] [1, 1] : !b to !partB
  %first, %t0 = tile.copy %a0 to %ra {map = #mn} : !partA to !ringA
  %second, %t1 = tile.copy %b0 to %rb {map = #mn} : !partB to !ringB
  %sum, %sa, %sb, %ta, %tb = scf.for %k = %c0 to %c16 step %c8
      iter_args(%acc = %none, %left = %first, %right = %second, %tl = %t0, %tr = %t1)
      -> (!acc, !slotA, !slotB, !tile.token, !tile.token) {
    %next = arith.addi %k, %c8 : index
    %ak = memref.subview %a[0, %next] [4, 8] [1, 1] : !a to !partA
    %bk = memref.subview %b[%next, 0] [8, 8] [1, 1] : !b to !partB
    %nextLeft, %tnl = tile.copy %ak to %ra {map = #mn} : !partA to !ringA
    %nextRight, %tnr = tile.copy %bk to %rb {map = #mn} : !partB to !ringB
    tile.wait %tl, %tr
    %1, %u = tile.step %acc, %left, %right {aMap = #mk, bMap = #kn, reduced = array<i64: 8>, unroll = 1}
      : !acc, !slotA, !slotB -> !tile.token
    tile.release %left after %u : !slotA
    tile.release %right : !slotB
    scf.yield %1, %nextLeft, %nextRight, %tnl, %tnr : !acc, !slotA, !slotB, !tile.token, !tile.token
  }
  tile.wait %ta, %tb
  %all, %u = tile.step %sum, %sa, %sb {aMap = #mk, bMap = #kn, reduced = array<i64: 8>, unroll = 1}
    : !acc, !slotA, !slotB -> !tile.token
  tile.release %sa : !slotA
  tile.release %sb : !slotB
  tile.wait %u
  tile.drain %all to %c : !c attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } : !acc
  return
}

// Roles with loops of their own, joined by rings. One of two slots is in use
// while the other is filled; b's has room for all it will ever hold.
// CHECK: 'roles' interpreted under 60 schedules: largest difference {{.*}}e-0{{[7-9]}}
func.func @roles(%a: !a, %b: !b, %c: !c) attributes {reference = @product} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %ra = tile.alloc : !ringA
  %rb = tile.alloc : !ringB
  tile.role "producer" concurrent {
    scf.for %k = %c0 to %c24 step %c8 {
      %ak = memref.subview %a[0, %k] [4, 8] [1, 1] : !a to !partA
      %bk = memref.subview %b[%k, 0] [8, 8] [1, 1] : !b to !partB
      %0, %t0 = tile.copy %ak to %ra {map = #mn} : !partA to !ringA
      %1, %t1 = tile.copy %bk to %rb {map = #mn} : !partB to !ringB
    }
  }
  tile.role "consumer" concurrent {
    %zero = arith.constant 0.0 : f32
    %none = tile.init %zero : f32 to !acc
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %sum = scf.for %k = %c0 to %c24 step %c8 iter_args(%acc = %none) -> (!acc) {
      %left = tile.take %ra : !ringA
      %right = tile.take %rb : !ringB
      %inner = scf.for %i = %c0 to %c8 step %c2 iter_args(%part = %acc) -> (!acc) {
        %1 = tile.step %part, %left[%c0, %i], %right[%i, %c0]
          {aMap = #mk, bMap = #kn, reduced = array<i64: 2>, unroll = 1} : !acc, !slotA, !slotB
        scf.yield %1 : !acc
      }
      tile.release %left : !slotA
      tile.release %right : !slotB
      scf.yield %inner : !acc
    }
    tile.drain %sum to %c : !c attributes {maps = [#mn]} {
    ^bb0(%s: f32):
      tile.yield %s : f32
    } : !acc
  }
  return
}

// Workers come in any order, and each has rings of its own.
// CHECK: 'workers' interpreted under 60 schedules: largest difference {{.*}}e-0{{[7-9]}}
func.func @workers(%a: !a, %b: !b, %c: !c) attributes {reference = @product} {
  scf.forall (%m, %n) = (0, 0) to (4, 8) step (2, 4) {
    %zero = arith.constant 0.0 : f32
    %ring = tile.alloc : !tile.ring<1, 4x24xf32>
    %part = memref.subview %b[0, %n] [24, 4] [1, 1] : !b to memref<24x4xf32, strided<[8, 1], offset: ?>>
    %slot, %t = tile.copy %part to %ring {map = affine_map<(n, k) -> (k, n)>}
      : memref<24x4xf32, strided<[8, 1], offset: ?>> to !tile.ring<1, 4x24xf32>
    %rows = memref.subview %a[%m, 0] [2, 24] [1, 1] : !a to memref<2x24xf32, strided<[24, 1], offset: ?>>
    %none = tile.init %zero : f32 to !tile.acc<2x4xf32>
    tile.wait %t
    %panel = tile.view %slot : !tile.slot<4x24xf32> to memref<4x24xf32>
    %sum = tile.step %none, %rows, %panel {aMap = #mk, bMap = affine_map<(m, n, k) -> (n, k)>, reduced = array<i64: 24>, unroll = 1}
      : !tile.acc<2x4xf32>, memref<2x24xf32, strided<[24, 1], offset: ?>>, memref<4x24xf32>
    tile.release %slot : !tile.slot<4x24xf32>
    %box = memref.subview %c[%m, %n] [2, 4] [1, 1] : !c to memref<2x4xf32, strided<[8, 1], offset: ?>>
    tile.drain %sum to %box : memref<2x4xf32, strided<[8, 1], offset: ?>> attributes {maps = [#mn]} {
    ^bb0(%s: f32):
      tile.yield %s : f32
    } : !tile.acc<2x4xf32>
  }
  return
}

// Where a body asks for its place.
// CHECK: 'places' interpreted under 60 schedules
func.func @places(%y: memref<4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%y : memref<4xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i32
    linalg.yield %v : i32
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --split-input-file --ashlar-distribute-lanes=lanes=4 --canonicalize --cse --verify-diagnostics | FileCheck %s
// RUN: ashlar-opt %s --split-input-file "--ashlar-distribute-lanes=lanes=4 piece-bytes=8" --canonicalize --cse --verify-diagnostics | FileCheck %s --check-prefix=PIECES

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#all = affine_map<(m, n) -> (m, n)>

// Two groups of four lanes; each has two rows of eight columns, so a lane has
// columns l and l + 4 of both. Slots of four elements lie five apart. One
// barrier stands between both copies and the step, and none behind it, as there
// are two slots of each ring.
exec.kernel @product calls @product_body : (memref<6x12xf32>, memref<12x8xf32>) -> memref<6x8xf32>
// CHECK: exec.kernel @product calls @product_body {{.*}} block [8]
// CHECK-LABEL: func.func @product_body(
// CHECK-SAME: %[[A:.*]]: memref<6x12xf32>, %[[B:.*]]: memref<12x8xf32>, %[[C:.*]]: memref<6x8xf32>)
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: scf.forall (%[[M:.*]]) = (0) to (6) step (4)
// CHECK-DAG: %[[RA:.*]] = memref.alloc() : memref<40xf32, 3>
// CHECK-DAG: %[[RB:.*]] = memref.alloc() : memref<64xf32, 3>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK: scf.for %{{.*}} = %[[T]] to %c16{{.*}} step %c8
// CHECK: affine.delinearize_index %{{.*}} into (4, 4)
// CHECK: arith.muli %{{.*}}, %c5
// CHECK: scf.if
// CHECK: memref.load
// CHECK: } else {
// CHECK: memref.store {{.*}}, %[[RA]][{{.*}}] : memref<40xf32, 3>
// CHECK-NOT: gpu.barrier
// CHECK: scf.for %{{.*}} = %[[T]] to %c32{{.*}} step %c8
// CHECK: memref.store {{.*}}, %[[RB]][{{.*}}] : memref<64xf32, 3>
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK-DAG: memref.reinterpret_cast %[[RA]] to offset: {{.*}}, sizes: [4, 4], strides: [5, 1]
// CHECK-DAG: memref.reinterpret_cast %[[RB]] to offset: {{.*}}, sizes: [4, 8], strides: [8, 1]
// CHECK-DAG: arith.remui %[[T]], %c4
// CHECK-DAG: arith.divui %[[T]], %c4
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK-COUNT-4: math.fma
// CHECK-NOT: math.fma
// CHECK-NOT: gpu.barrier
// A row beyond the end is left out.
// CHECK: scf.if
// CHECK: arith.mulf
// CHECK: memref.store
// The next part's copies take slots that others may still read.
// CHECK: gpu.barrier
// CHECK-NEXT: } {tile.scope = "workgroup"}
func.func @product_body(%a: memref<6x12xf32>, %b: memref<12x8xf32>, %c: memref<6x8xf32>) attributes {tile.threads} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) = (0) to (6) step (4) {
    %ra = tile.alloc : <2, 4x4xf32, "local", #tile.layout<pad [0, 1]>>
    %rb = tile.alloc : <2, 4x8xf32, "local">
    %none = tile.init %zero : f32 to <4x8xf32, groups = [group subgroup [2, 8]]>
    %rows = affine.min affine_map<(d) -> (4, 6 - d)>(%m)
    %all = scf.for %k = %c0 to %c12 step %c4 iter_args(%acc = %none) -> (!tile.acc<4x8xf32, groups = [group subgroup [2, 8]]>) {
      %va = memref.subview %a[%m, %k] [%rows, 4] [1, 1] : memref<6x12xf32> to memref<?x4xf32, strided<[12, 1], offset: ?>>
      %sa, %ta = tile.copy %va to %ra {map = #all, padded} : memref<?x4xf32, strided<[12, 1], offset: ?>> to <2, 4x4xf32, "local", #tile.layout<pad [0, 1]>>
      tile.wait %ta
      %vb = memref.subview %b[%k, 0] [4, 8] [1, 1] : memref<12x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
      %sb, %tb = tile.copy %vb to %rb {map = #all} : memref<4x8xf32, strided<[8, 1], offset: ?>> to <2, 4x8xf32, "local">
      tile.wait %tb
      %next = tile.step %acc, %sa, %sb {aMap = #mk, bMap = #kn, reduced = array<i64: 4>, unroll = 1 : i64} : <4x8xf32, groups = [group subgroup [2, 8]]>, !tile.slot<4x4xf32, "local", #tile.layout<pad [0, 1]>>, !tile.slot<4x8xf32, "local">
      tile.release %sa : <4x4xf32, "local", #tile.layout<pad [0, 1]>>
      tile.release %sb : <4x8xf32, "local">
      scf.yield %next : !tile.acc<4x8xf32, groups = [group subgroup [2, 8]]>
    }
    %vc = memref.subview %c[%m, 0] [%rows, 8] [1, 1] : memref<6x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
    tile.drain %all to %vc : memref<?x8xf32, strided<[8, 1], offset: ?>> attributes {clipped, maps = [#all]} {
    ^bb0(%sum: f32):
      %y = arith.mulf %sum, %sum : f32
      tile.yield %y : f32
    } : <4x8xf32, groups = [group subgroup [2, 8]]>
  } {tile.scope = "workgroup"}
  return
}

// -----

// A kernel without the mark stays as it is: its sums are one thread's.
// CHECK: exec.kernel @alone
// CHECK-NOT: block
// CHECK: tile.drain
exec.kernel @alone calls @alone_body : () -> memref<4x8xf32>
func.func @alone_body(%c: memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to <4x8xf32>
  tile.drain %none to %c : memref<4x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } : <4x8xf32>
  return
}

// -----

// Where no groups are named, eight of four lanes have all together: of two rows
// of twenty each thread has one element, and the last eight a second one. Sums
// of rows go to all threads again.
// CHECK: exec.kernel @rows {{.*}} block [32]
// CHECK-LABEL: func.func @rows_body(
// CHECK-SAME: %[[X:.*]]: memref<2x20xf32>, %[[Y:.*]]: memref<2x20xf32>)
// CHECK-DAG: %[[T:.*]] = gpu.thread_id x
// CHECK: arith.addf
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<2x1xf32, 3>
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[SUMS]]
// CHECK: arith.divf
// CHECK: memref.load %[[SUMS]]
// CHECK: arith.divf
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[Y]]
exec.kernel @rows calls @rows_body : (memref<2x20xf32>) -> memref<2x20xf32>
func.func @rows_body(%x: memref<2x20xf32>, %y: memref<2x20xf32>) attributes {tile.threads} {
  %a = tile.load %x {map = affine_map<(m, n) -> (m, n)>} : memref<2x20xf32> to <2x20xf32>
  %s = tile.reduce %a over [1] : !tile.acc<2x20xf32> -> !tile.acc<2x1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tile.yield %r : f32
  }
  %z = tile.map %a, %s maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, 0)>] : !tile.acc<2x20xf32>, !tile.acc<2x1xf32> -> !tile.acc<2x20xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.divf %p, %q : f32
    tile.yield %r : f32
  }
  tile.drain %z to %y : memref<2x20xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <2x20xf32>
  return
}

// -----

// Each turn reads what the one before stored: threads meet in front of the store
// as well, for others may still read.
// CHECK-LABEL: func.func @turns_body(
// CHECK: %[[OWN:.*]] = memref.alloc() : memref<1x8xf32, 3>
// CHECK: scf.for
// CHECK: memref.load %[[OWN]]
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[OWN]]
// CHECK: gpu.barrier
exec.kernel @turns calls @turns_body : () -> memref<4x8xf32>
func.func @turns_body(%c: memref<4x8xf32>) attributes {tile.threads} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %own = memref.alloc() : memref<1x8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %first = tile.load %own {map = affine_map<(m, n) -> (m, 0)>} : memref<1x8xf32> to <1x8xf32>
    tile.drain %first to %own : memref<1x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      tile.yield %y : f32
    } : <1x8xf32>
    %row = memref.subview %c[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    tile.drain %first to %row : memref<1x8xf32, strided<[8, 1], offset: ?>> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
    ^bb0(%x: f32):
      tile.yield %x : f32
    } : <1x8xf32>
  }
  return
}

// -----

// Zeros everywhere, then a box: who stores an element of it need not be who
// stored the zero.
// CHECK-LABEL: func.func @margins_body(
// CHECK: memref.store %cst
// CHECK: gpu.barrier
// CHECK: memref.load
// CHECK-NOT: gpu.barrier
// CHECK: return
exec.kernel @margins calls @margins_body : (memref<2x4xf32>) -> memref<4x8xf32>
func.func @margins_body(%x: memref<2x4xf32>, %y: memref<4x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to <4x8xf32>
  tile.drain %none to %y : memref<4x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <4x8xf32>
  %box = memref.subview %y[1, 2] [2, 4] [1, 1] : memref<4x8xf32> to memref<2x4xf32, strided<[8, 1], offset: 10>>
  %none2 = tile.init %zero : f32 to <2x4xf32>
  tile.drain %none2 epilogue(%x : memref<2x4xf32>) to %box : memref<2x4xf32, strided<[8, 1], offset: 10>> attributes {maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%p: f32, %q: f32):
    tile.yield %q : f32
  } : <2x4xf32>
  return
}

// -----

exec.kernel @beside calls @beside_body : () -> memref<4x8xf32>
// expected-note @below {{the kernel is here}}
func.func @beside_body(%c: memref<4x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected nothing but accumulators in a kernel whose threads compute each part together}}
  memref.store %zero, %c[%c0, %c0] : memref<4x8xf32>
  scf.forall (%m) = (0) to (4) step (2) {
    %none = tile.init %zero : f32 to <2x8xf32, groups = [group subgroup [1, 8]]>
    %vc = memref.subview %c[%m, 0] [2, 8] [1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1], offset: ?>>
    tile.drain %none to %vc : memref<2x8xf32, strided<[8, 1], offset: ?>> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
    ^bb0(%sum: f32):
      tile.yield %sum : f32
    } : <2x8xf32, groups = [group subgroup [1, 8]]>
  }
  return
}

// -----

// Parts that a workgroup goes through in turn have rings of their own, which are
// the same memory: threads meet before the next one's copies.
exec.kernel @turns calls @turns_body : (memref<8x8xf32>) -> memref<8x8xf32>
// CHECK-LABEL: func.func @turns_body(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c4
// CHECK: math.fma
// CHECK: memref.store
// CHECK: gpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: return
func.func @turns_body(%a: memref<8x8xf32>, %c: memref<8x8xf32>) attributes {tile.threads} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) = (0) to (8) step (8) {
    scf.for %i = %c0 to %c8 step %c4 {
      %ra = tile.alloc : <2, 8x8xf32, "local">
      %s, %t = tile.copy %a to %ra {map = affine_map<(m, n) -> (m, n)>} : memref<8x8xf32> to <2, 8x8xf32, "local">
      tile.wait %t
      %none = tile.init %zero : f32 to <4x8xf32>
      %sums = tile.step %none, %s, %s {aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>, reduced = array<i64: 8>, unroll = 1 : i64} : <4x8xf32>, !tile.slot<8x8xf32, "local">, !tile.slot<8x8xf32, "local">
      tile.release %s : <8x8xf32, "local">
      %vc = memref.subview %c[%i, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
      tile.drain %sums to %vc : memref<4x8xf32, strided<[8, 1], offset: ?>> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
      ^bb0(%sum: f32):
        tile.yield %sum : f32
      } : <4x8xf32>
    }
  } {tile.scope = "workgroup"}
  return
}

// -----

exec.kernel @swizzled calls @swizzled_body : () -> memref<4x8xf32>
func.func @swizzled_body(%c: memref<4x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 8x8xf32, "local", #tile.layout<swizzle [1, 2, 3]>>
  // expected-note @below {{the slot is here}}
  %s, %t = tile.copy %c to %ra {map = affine_map<(m, n) -> (m, n)>, padded} : memref<4x8xf32> to <2, 8x8xf32, "local", #tile.layout<swizzle [1, 2, 3]>>
  tile.wait %t
  %none = tile.init %zero : f32 to <4x8xf32>
  // expected-error @below {{expected slots without a swizzle, for threads that read by themselves}}
  %sums = tile.step %none, %s, %s {aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>, reduced = array<i64: 8>, unroll = 1 : i64} : <4x8xf32>, !tile.slot<8x8xf32, "local", #tile.layout<swizzle [1, 2, 3]>>, !tile.slot<8x8xf32, "local", #tile.layout<swizzle [1, 2, 3]>>
  tile.release %s : <8x8xf32, "local", #tile.layout<swizzle [1, 2, 3]>>
  tile.drain %sums to %c : memref<4x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } : <4x8xf32>
  return
}

// -----

// Steps of threads end where they stand: there is nothing to wait for.
exec.kernel @begun calls @begun_body : () -> memref<4x8xf32>
func.func @begun_body(%c: memref<4x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 8x8xf32, "local">
  %s, %t = tile.copy %c to %ra {map = affine_map<(m, n) -> (m, n)>, padded} : memref<4x8xf32> to <2, 8x8xf32, "local">
  tile.wait %t
  %none = tile.init %zero : f32 to <4x8xf32>
  // expected-error @below {{expected steps that end where they stand, for threads that copy by themselves}}
  %sums, %done = tile.step %none, %s, %s {aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>, reduced = array<i64: 8>, unroll = 1 : i64} : <4x8xf32>, !tile.slot<8x8xf32, "local">, !tile.slot<8x8xf32, "local"> -> !tile.token
  tile.wait %done
  tile.release %s : <8x8xf32, "local">
  tile.drain %sums to %c : memref<4x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } : <4x8xf32>
  return
}

// -----

// With pieces of eight bytes a thread has two neighbours: columns 2t and
// 2t + 1 of a row of 64, by one access. Where a row cannot be cut into pairs, it has one at a
// time.
// PIECES-LABEL: func.func @pieces_body(
// PIECES: %[[T:.*]] = gpu.thread_id x
// PIECES: %[[FROM:.*]] = arith.muli %[[T]], %c2
// PIECES: %[[ROW:.*]] = vector.load %{{.*}}[%c0, %[[FROM]]] {alignment = 8 : i64} : memref<1x64xf32>, vector<2xf32>
// PIECES: vector.store %{{.*}}, %{{.*}}[%c0, %[[FROM]]] {alignment = 8 : i64} : memref<1x64xf32>, vector<2xf32>
// PIECES-NOT: vector.load
// PIECES: memref.load %{{.*}}[%c0, %[[T]]]
// PIECES: arith.addi %[[T]], %c32
exec.kernel @pieces calls @pieces_body : (memref<1x64xf32>, memref<1x63xf32>) -> (memref<1x64xf32>, memref<1x63xf32>)
func.func @pieces_body(%x: memref<1x64xf32>, %u: memref<1x63xf32>, %y: memref<1x64xf32>, %v: memref<1x63xf32>) attributes {tile.threads} {
  %a = tile.load %x {map = affine_map<(m, n) -> (m, n)>} : memref<1x64xf32> to <1x64xf32>
  tile.drain %a to %y : memref<1x64xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <1x64xf32>
  %b = tile.load %u {map = affine_map<(m, n) -> (m, n)>} : memref<1x63xf32> to <1x63xf32>
  tile.drain %b to %v : memref<1x63xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <1x63xf32>
  return
}

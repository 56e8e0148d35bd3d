// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workers that share copies run side by side: a slot is filled when all have
// begun, and none begins before all have room.
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics -o /dev/null --ashlar-interpret-kernels="through=ashlar-expand-contracts,ashlar-hoist-roles,canonicalize schedules=20"
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics -o /dev/null --ashlar-interpret-kernels="through=ashlar-expand-contracts,ashlar-hoist-roles,ashlar-form-clusters,canonicalize schedules=20"

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
// expected-remark@+1 {{interpreted under 20 schedules}}
func.func @product(%a: memref<15x20xf32>, %b: memref<12x20xf32>, %c: memref<15x12xf32>) {
  tile.contract a(%a : memref<15x20xf32>) b(%b : memref<12x20xf32>) outs(%c : memref<15x12xf32>) attributes {
    parallel = array<i64: 15, 12>, reduced = array<i64: 20>, maps = [#mk, #nk, #mn],
    strategy = #tile.strategy<"lanes" m [0] n [1] k [2], grid cluster [8, 8 | _], grid block [4, 8 | _], loop [4, 8 | 8] order [2],
      a: ring near at 2 slots 2 by engine, b: ring near at 2 slots 2 by engine multicast, acc sums, masked [0, 1, 2],
      role producer group x 1, role consumer group x 1>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// The last of them has no rows, and copies its share all the same.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
// expected-remark@+1 {{interpreted under 20 schedules}}
func.func @odd(%a: memref<9x20xf32>, %b: memref<12x20xf32>, %c: memref<9x12xf32>) {
  tile.contract a(%a : memref<9x20xf32>) b(%b : memref<12x20xf32>) outs(%c : memref<9x12xf32>) attributes {
    parallel = array<i64: 9, 12>, reduced = array<i64: 20>, maps = [#mk, #nk, #mn],
    strategy = #tile.strategy<"lanes" m [0] n [1] k [2], grid cluster [8, 8 | _], grid block [4, 8 | _], loop [4, 8 | 8] order [2],
      a: ring near at 2 slots 2 by engine, b: ring near at 2 slots 2 by engine multicast, acc sums, masked [0, 1, 2],
      role producer group x 1, role consumer group x 1>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Each reads a part of its own.
func.func @others(%b: memref<8x4xf32>) {
  scf.forall (%i) in (2) {
    %ring = tile.alloc : !tile.ring<1, 4x4xf32, "near">
    %at = affine.apply affine_map<(i) -> (i * 4)>(%i)
    %part = memref.subview %b[%at, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1], offset: ?>>
    // expected-error@+1 {{reads something else than another worker that shares the copy}}
    %slot, %begun = tile.copy %part to %ring {engine = "tma", map = affine_map<(n, k) -> (n, k)>, multicast}
      : memref<4x4xf32, strided<[4, 1], offset: ?>> to !tile.ring<1, 4x4xf32, "near">
    tile.wait %begun
    tile.release %slot : !tile.slot<4x4xf32, "near">
  }
  return
}

// -----

// One copies more often than the other, which nobody fills a share for.
// expected-error@+1 {{all roles wait for each other}}
func.func @more(%b: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (2) {
    %ring = tile.alloc : !tile.ring<2, 8x4xf32, "near">
    scf.for %j = %c0 to %i step %c1 {
      %slot, %begun = tile.copy %b to %ring {engine = "tma", map = affine_map<(n, k) -> (n, k)>, multicast}
        : memref<8x4xf32> to !tile.ring<2, 8x4xf32, "near">
      // expected-note@+1 {{'worker 1' waits here}}
      tile.wait %begun
      tile.release %slot : !tile.slot<8x4xf32, "near">
    }
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --pass-pipeline="builtin.module(func.func(ashlar-expand-contracts,ashlar-pipeline-copies{engines=async},canonicalize))" | FileCheck %s

// Threads that copy write at once: an iteration waits before it takes a slot.
// Steps go on for one iteration more, and keep their slots: of four, two copies
// run ahead, the third is read by a step that goes on, the fourth by the next.
// CHECK-LABEL: func.func @threads
// CHECK-COUNT-4: tile.copy
// CHECK: tile.wait
// CHECK-COUNT-2: tile.copy
// CHECK: %{{.*}}, %[[U:.*]] = tile.step {{.*}} -> !tile.token
// CHECK: scf.for {{.*}}, %[[BEGUN:.*]] = %[[U]]
// CHECK: tile.wait
// CHECK: tile.wait
// CHECK-COUNT-2: tile.copy
// CHECK: %{{.*}}, %[[NEXT:.*]] = tile.step {{.*}} -> !tile.token
// CHECK-NEXT: tile.wait %[[BEGUN]]
// CHECK-NEXT: tile.release
// CHECK-NEXT: tile.release
// CHECK-NEXT: scf.yield {{.*}}%[[NEXT]]
// Another engine's copies end where they stand.
// CHECK-LABEL: func.func @others
// CHECK: scf.for
// CHECK: tile.copy
// CHECK-NEXT: tile.wait
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
#warp = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], in_flight 1>
func.func @threads(%a: memref<16x256xbf16>, %b: memref<256x8xbf16>, %c: memref<16x8xf32>) {
  tile.contract a(%a : memref<16x256xbf16>) b(%b : memref<256x8xbf16>) outs(%c : memref<16x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 16, 8>, reduced = array<i64: 256>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [16, 8 | 16] order [0, 1, 2],
          a: ring shared at 0 slots 4 by async, b: ring shared at 0 slots 4 by async, acc registers, hints {fragment = #warp}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}
func.func @others(%a: memref<16x256xbf16>, %b: memref<256x8xbf16>, %c: memref<16x8xf32>) {
  tile.contract a(%a : memref<16x256xbf16>) b(%b : memref<256x8xbf16>) outs(%c : memref<16x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 16, 8>, reduced = array<i64: 256>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [16, 8 | 16] order [0, 1, 2],
          a: ring shared at 0 slots 4 by lanes, b: ring shared at 0 slots 4 by lanes, acc registers, hints {fragment = #warp}>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-expand-contracts --ashlar-hoist-roles --ashlar-schedule-steps --canonicalize | FileCheck %s
// RUN: ashlar-opt %s --split-input-file --ashlar-interpret-kernels="through=ashlar-expand-contracts,ashlar-hoist-roles,ashlar-schedule-steps,canonicalize schedules=40" -o /dev/null
// RUN: ashlar-opt %s --split-input-file --ashlar-interpret-kernels="through=ashlar-expand-contracts,ashlar-pipeline-copies,ashlar-schedule-steps,canonicalize schedules=40" -o /dev/null
// RUN: not ashlar-opt %s --split-input-file --ashlar-schedule-steps=in-flight=-1 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
// NONE: error: expected 'in-flight' of 0 or more, found -1

// A step's slots are given back when the next one has begun and it has ended.
// CHECK-LABEL: func.func @product
// CHECK: tile.role "consumer"
// CHECK:   %[[S0:.*]] = tile.take
// CHECK:   %[[ACC0:.*]], %[[U0:.*]] = tile.step %{{.*}}, %{{.*}}, %[[S0]]
// CHECK-NOT: tile.release
// CHECK:   %[[ALL:.*]]:3 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ACC0]], %[[U:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK:     tile.take
// CHECK:     tile.step %[[ACC]]
// CHECK-NEXT:     tile.wait
// CHECK-NEXT:     tile.release
// CHECK:   tile.wait %[[ALL]]#
// CHECK:   tile.release %[[ALL]]#
// CHECK:   tile.drain %[[ALL]]#0
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

// One slot is not enough for a step in flight and the next.
// CHECK-LABEL: func.func @one_slot
// CHECK: scf.for
// CHECK:   tile.step
// CHECK-NOT: tile.token
// CHECK:   tile.release
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @one_slot(%a: memref<4x64xf32>, %b: memref<64x8xf32>, %c: memref<4x8xf32>) {
  // expected-remark@+1 {{steps do not go on behind others: the ring has 1 slots, and steps in flight would hold 2}}
  tile.contract a(%a : memref<4x64xf32>) b(%b : memref<64x8xf32>) outs(%c : memref<4x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 4, 8>, reduced = array<i64: 64>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [4, 8 | 8] order [0, 1, 2], b: ring shared at 0 slots 1, acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Sums that join a total in each iteration are needed there.
// CHECK-LABEL: func.func @promoted
// CHECK: tile.step
// CHECK: tile.add
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @promoted(%a: memref<4x64xf32>, %b: memref<64x8xf32>, %c: memref<4x8xf32>) {
  // expected-remark@+1 {{steps do not go on behind others: its sums are used in the same iteration}}
  tile.contract a(%a : memref<4x64xf32>) b(%b : memref<64x8xf32>) outs(%c : memref<4x8xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 4, 8>, reduced = array<i64: 64>,
      strategy = #tile.strategy<"mma" m [0] n [1] k [2], loop [4, 8 | 8] order [0, 1, 2], b: ring shared at 0 slots 3, acc registers promote 0>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

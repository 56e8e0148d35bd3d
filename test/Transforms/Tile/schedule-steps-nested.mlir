// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --verify-diagnostics --ashlar-expand-contracts --ashlar-pipeline-copies --ashlar-schedule-steps --canonicalize -o /dev/null
// RUN: ashlar-opt %s --ashlar-interpret-kernels="through=ashlar-expand-contracts,ashlar-pipeline-copies,ashlar-schedule-steps,canonicalize schedules=40" -o /dev/null 2>&1 | FileCheck %s
// CHECK: 'windows__through' interpreted under 40 schedules

// Behind the loop over k a step is left in the loop over windows; the slots
// it reads are wanted by the copies of the next round.
#mk = affine_map<(m, n, w, k) -> (m, 4 * w + k)>
#kn = affine_map<(m, n, w, k) -> (w, k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @windows(%a: memref<8x16xf32>, %b: memref<4x4x4xf32>, %c: memref<8x4xf32>) {
  // expected-remark@+2 {{steps do not go on behind others: the ring has 2 slots, and steps in flight would hold 3}}
  // expected-remark@+1 {{steps do not go on behind others: the loop goes round no more often than steps may be in flight}}
  tile.contract a(%a : memref<8x16xf32>) b(%b : memref<4x4x4xf32>) outs(%c : memref<8x4xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 8, 4>, reduced = array<i64: 4, 4>,
      strategy = #tile.strategy<"lanes" m [0] n [1] k [2, 3], loop [4, 2 | 1, 1] order [0, 1, 2, 3], a: ring near at 0 slots 3, b: ring near at 0 slots 2, acc sums>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-contracts --canonicalize | FileCheck %s
// RUN: ashlar-opt %s --ashlar-interpret-kernels="through=ashlar-expand-contracts schedules=8" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Workgroups that share copies are all there: two of the last cluster have no
// rows, and where rows are two elements apart they begin beyond the operand.
// CHECK-DAG: #[[START:.*]] = affine_map<(d0) -> (7, d0)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0) -> (d0 * -2 + 13, 3)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<()[s0] -> (0, s0)>
// CHECK-LABEL: func.func @strided
// CHECK: %[[FROM:.*]] = affine.min #[[START]]
// CHECK: %[[LEFT:.*]] = affine.min #[[ROWS]](%[[FROM]])
// CHECK: %[[COUNT:.*]] = affine.max #[[NONE]]()[%[[LEFT]]]
// CHECK: memref.subview %arg0[%{{.*}}, %{{.*}}] [%[[COUNT]], 1]
// RIGHT: 'strided__through' interpreted under 8 schedules
#mk = affine_map<(m, n, k) -> (m * 2 + k, n)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @strided(%a: memref<13x2xf32>, %b: memref<1x2xf32>, %c: memref<7x2xf32>) {
  tile.contract a(%a : memref<13x2xf32>) b(%b : memref<1x2xf32>) outs(%c : memref<7x2xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 7, 2>, reduced = array<i64: 1>,
      strategy = #tile.strategy<"lanes" m [0] n [1] k [2], grid cluster [6, _ | _], grid block [2, _ | _], loop [2, 1 | 1] order [1, 2], a: ring near at 2 slots 2 by engine, b: ring near at 2 slots 1 by engine multicast, acc sums, masked [0, 1]>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

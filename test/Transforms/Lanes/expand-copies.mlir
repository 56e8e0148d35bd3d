// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-copies | FileCheck %s

// The worker copies by itself: what was begun is done, into memory of its own.
// CHECK-DAG: #[[ACROSS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @panel
// CHECK-SAME: %[[B:.*]]: memref<4x3xf32>
// CHECK-NOT: tile.alloc
// CHECK: %[[SLOT:.*]] = memref.alloc() : memref<3x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ACROSS]], #[[SAME]]]{{.*}} ins(%[[B]] : memref<4x3xf32>) outs(%[[SLOT]] : memref<3x4xf32>)
// CHECK-NOT: tile.wait
// CHECK: memref.copy %[[SLOT]]
// CHECK-NOT: tile.release
func.func @panel(%b: memref<4x3xf32>, %c: memref<3x4xf32>) {
  %ring = tile.alloc : !tile.ring<2, 3x4xf32, "l2">
  %panel, %begun = tile.copy %b to %ring {map = affine_map<(k, n) -> (n, k)>}
    : memref<4x3xf32> to !tile.ring<2, 3x4xf32, "l2">
  tile.wait %begun
  %m = tile.view %panel : !tile.slot<3x4xf32, "l2"> to memref<3x4xf32>
  memref.copy %m, %c : memref<3x4xf32> to memref<3x4xf32>
  tile.release %panel : !tile.slot<3x4xf32, "l2">
  return
}

// And so are steps.
// CHECK-LABEL: func.func @steps
// CHECK: %[[SLOT:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK: %[[FIRST:.*]] = tile.step %{{.*}}, %arg0, %[[SLOT]] {{.*}} : <4xf32>, memref<4xf32>, memref<4x4xf32>
// CHECK-NEXT: %[[SECOND:.*]] = tile.step %[[FIRST]], %arg0, %[[SLOT]] {{.*}} : <4xf32>, memref<4xf32>, memref<4x4xf32>
// CHECK-NEXT: return %[[SECOND]]
func.func @steps(%a: memref<4xf32>, %b: memref<4x4xf32>, %acc: !tile.acc<4xf32>) -> !tile.acc<4xf32> {
  %ring = tile.alloc : !tile.ring<2, 4x4xf32>
  %s, %t = tile.copy %b to %ring {map = affine_map<(k, n) -> (k, n)>}
    : memref<4x4xf32> to !tile.ring<2, 4x4xf32>
  tile.wait %t
  %1, %u1 = tile.step %acc, %a, %s {reduced = array<i64: 4>, unroll = 1,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<4xf32>, memref<4xf32>, !tile.slot<4x4xf32> -> !tile.token
  %2, %u2 = tile.step %1, %a, %s {reduced = array<i64: 4>, unroll = 1,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<4xf32>, memref<4xf32>, !tile.slot<4x4xf32> -> !tile.token
  tile.release %s after %u1, %u2 : !tile.slot<4x4xf32>
  tile.wait %u1, %u2
  return %2 : !tile.acc<4xf32>
}

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
  %ring = tile.alloc space("l2") : !tile.ring<2, 3x4xf32>
  %panel, %begun = tile.copy %b to %ring {map = affine_map<(k, n) -> (n, k)>}
    : memref<4x3xf32> to !tile.ring<2, 3x4xf32> -> memref<3x4xf32>
  tile.wait %begun
  memref.copy %panel, %c : memref<3x4xf32> to memref<3x4xf32>
  tile.release %panel : memref<3x4xf32>
  return
}

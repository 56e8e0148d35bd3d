// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-inline-roles | FileCheck %s

// The bodies stand in their places, and what one handed over is its own value.
// CHECK-LABEL: func.func @roles
// CHECK: scf.for
// CHECK-NEXT: %[[SLOT:.*]], %[[TOKEN:.*]] = tile.copy
// CHECK-NEXT: tile.wait %[[TOKEN]]
// CHECK-NEXT: %[[MEMORY:.*]] = tile.view %[[SLOT]]
// CHECK-NEXT: memref.copy %[[MEMORY]], %arg1
// CHECK-NEXT: tile.release %[[SLOT]]
// CHECK-NEXT: }
// CHECK-NOT: tile.role
func.func @roles(%b: memref<8xf32>, %d: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %ring = tile.alloc : !tile.ring<2, 8xf32>
  scf.for %k = %c0 to %c4 step %c1 {
    %s, %t = tile.role "producer" {
      %slot, %begun = tile.copy %b to %ring {map = affine_map<(n) -> (n)>}
        : memref<8xf32> to !tile.ring<2, 8xf32>
      tile.hand_over %slot, %begun : !tile.slot<8xf32>, !tile.token
    } : !tile.slot<8xf32>, !tile.token
    tile.role "consumer" {
      tile.wait %t
      %m = tile.view %s : !tile.slot<8xf32> to memref<8xf32>
      memref.copy %m, %d : memref<8xf32> to memref<8xf32>
      tile.release %s : !tile.slot<8xf32>
    }
  }
  return
}

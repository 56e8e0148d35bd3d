// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-inline-roles | FileCheck %s

// The bodies stand in their places, and what one handed over is its own value.
// CHECK-LABEL: func.func @roles
// CHECK: scf.for
// CHECK-NEXT: %[[SLOT:.*]], %[[TOKEN:.*]] = tile.copy
// CHECK-NEXT: tile.wait %[[TOKEN]]
// CHECK-NEXT: memref.copy %[[SLOT]], %arg1
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
        : memref<8xf32> to !tile.ring<2, 8xf32> -> memref<8xf32>
      tile.hand_over %slot, %begun : memref<8xf32>, !tile.token
    } : memref<8xf32>, !tile.token
    tile.role "consumer" {
      tile.wait %t
      memref.copy %s, %d : memref<8xf32> to memref<8xf32>
      tile.release %s : memref<8xf32>
    }
  }
  return
}

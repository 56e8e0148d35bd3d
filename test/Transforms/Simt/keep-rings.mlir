// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-keep-rings | FileCheck %s

// What only the first and the last part need stands around the loop.
// CHECK-LABEL: func.func @parts
// CHECK: memref.view
// CHECK: memref.store %{{.*}}, %{{.*}}[] {tile.once = "begin"}
// CHECK: scf.if
// CHECK:   tile.phase_begin
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NEXT: tile.phase_wait
// CHECK-NEXT: }
// CHECK: gpu.barrier {tile.once = "end"}
// CHECK: scf.if
// CHECK:   tile.phase_end
func.func @parts(%from: index, %to: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %t = gpu.thread_id x
  %next = memref.alloca() : memref<i32>
  %all = memref.alloc() : memref<32xi8, 3>
  scf.for %i = %from to %to step %c1 {
    %words = memref.view %all[%c0][] : memref<32xi8, 3> to memref<4xi64, 3>
    memref.store %zero, %next[] {tile.once = "begin"} : memref<i32>
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      tile.phase_begin %words[%c0] of 1 : memref<4xi64, 3>
      tile.phase_publish
    } {tile.once = "begin"}
    gpu.barrier {tile.once = "begin"}
    tile.phase_wait %words[%c0], %zero : memref<4xi64, 3>
    gpu.barrier {tile.once = "end"}
    scf.if %first {
      tile.phase_end %words[%c0] : memref<4xi64, 3>
    } {tile.once = "end"}
  }
  return
}

// What a part makes stays in it, and so does all that begins with it.
// CHECK-LABEL: func.func @own
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[] {tile.once = "begin"}
// CHECK: gpu.barrier {tile.once = "end"}
// CHECK: }
func.func @own(%from: index, %to: index, %x: memref<64xi32>) {
  %c1 = arith.constant 1 : index
  %next = memref.alloca() : memref<i32>
  scf.for %i = %from to %to step %c1 {
    %value = memref.load %x[%i] : memref<64xi32>
    memref.store %value, %next[] {tile.once = "begin"} : memref<i32>
    gpu.barrier {tile.once = "end"}
  }
  return
}

// A kernel that takes tensor maps goes through each so many-th part.
// CHECK-LABEL: func.func @boxes
// CHECK-SAME: %[[FIRST:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index)
// CHECK: %[[COUNT:.*]] = gpu.grid_dim x
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %[[COUNT]]
func.func @boxes(%x: memref<64x32xbf16>, %slots: memref<1024xbf16, 3>, %words: memref<4xi64, 3>, %from: index, %to: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %from to %to step %c1 {
    tile.thread_box_copy %x[%i, %c0], %slots[%c0], %words[%c0] map 0 : memref<64x32xbf16>, memref<1024xbf16, 3>, memref<4xi64, 3>
  }
  return
}

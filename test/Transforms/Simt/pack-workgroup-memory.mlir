// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-pack-workgroup-memory --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-pack-workgroup-memory=bytes=192 --split-input-file | FileCheck %s
// RUN: not ashlar-opt %s --ashlar-pack-workgroup-memory=bytes=128 --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REFUSED

// The first and the third are never in use together and lie in one place; who
// fills the third waits for those who read the first. The second is alone in
// its place. A thread's own memory stays.
// CHECK-LABEL: func.func @three(
// CHECK: %[[ALL:.*]] = memref.alloc() : memref<192xi8, 3>
// CHECK: gpu.barrier
// CHECK: %[[C0:.*]] = arith.constant [[FIRST:.*]] : index
// CHECK: %[[A:.*]] = memref.view %[[ALL]][%[[C0]]][] : memref<192xi8, 3> to memref<20xf32, 3>
// CHECK: memref.alloc() : memref<4xf32>
// CHECK: memref.store %{{.*}}, %[[A]]
// CHECK-NOT: gpu.barrier
// CHECK: %[[B:.*]] = memref.view %[[ALL]][%{{.*}}][] : memref<192xi8, 3> to memref<16xf32, 3>
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK: memref.load %[[A]]
// CHECK: gpu.barrier
// CHECK: %[[C3:.*]] = arith.constant [[FIRST]] : index
// CHECK: %[[C:.*]] = memref.view %[[ALL]][%[[C3]]][] : memref<192xi8, 3> to memref<2x8xf32, 3>
// CHECK: memref.store %{{.*}}, %[[C]]
// CHECK: memref.load %[[B]]
// REFUSED: error: expected at most 128 bytes of a workgroup's memory, found 192 in 3 buffers
func.func @three(%x: f32, %i: index) -> (f32, f32) {
  %a = memref.alloc() : memref<20xf32, 3>
  %own = memref.alloc() : memref<4xf32>
  memref.store %x, %a[%i] : memref<20xf32, 3>
  memref.store %x, %own[%i] : memref<4xf32>
  %b = memref.alloc() : memref<16xf32, 3>
  memref.store %x, %b[%i] : memref<16xf32, 3>
  %1 = memref.load %a[%i] : memref<20xf32, 3>
  %c = memref.alloc() : memref<2x8xf32, 3>
  memref.store %1, %c[%i, %i] : memref<2x8xf32, 3>
  %2 = memref.load %b[%i] : memref<16xf32, 3>
  %3 = memref.load %c[%i, %i] : memref<2x8xf32, 3>
  return %2, %3 : f32, f32
}

// -----

// What a loop uses and does not allocate is in use for as long as it lasts,
// through views of it as well; a barrier that stands there already is enough.
// CHECK-LABEL: func.func @loop(
// CHECK: memref.alloc() : memref<192xi8, 3>
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: arith.constant
// CHECK-NEXT: memref.view {{.*}} to memref<16xf32, 3>
// CHECK: gpu.barrier
// CHECK-NEXT: arith.constant
// CHECK-NEXT: memref.view {{.*}} to memref<16xf32, 3>
func.func @loop(%x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = memref.alloc() : memref<4x8xf32, 3>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<16xf32, 3>
    memref.store %x, %a[%i] : memref<16xf32, 3>
    %1 = memref.load %a[%i] : memref<16xf32, 3>
    gpu.barrier
    %b = memref.alloc() : memref<16xf32, 3>
    memref.store %1, %b[%i] : memref<16xf32, 3>
    %row = memref.subview %sum[0, 0] [1, 8] [1, 1] : memref<4x8xf32, 3> to memref<1x8xf32, strided<[8, 1]>, 3>
    memref.store %1, %row[%c0, %i] : memref<1x8xf32, strided<[8, 1]>, 3>
  }
  return
}

// -----

// CHECK-LABEL: func.func @one(
// CHECK-NEXT: memref.alloc() : memref<16xf32, 3>
func.func @one() -> memref<16xf32, 3> {
  %a = memref.alloc() : memref<16xf32, 3>
  return %a : memref<16xf32, 3>
}

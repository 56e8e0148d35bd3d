// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-spread-parts=threads=128 --split-input-file | FileCheck %s

// A thousand parts of one thread's work: eight workgroups, and no thread behind
// the last part.
// CHECK-LABEL: exec.kernel @many
// CHECK-SAME: grid [#exec.size<8>] block [128] scratch 0
// CHECK-NOT: aliases
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: scf.for %[[GROUP:.*]] = %arg3 to %arg4
// CHECK: %[[PART:.*]] = affine.apply #{{.*}}(%[[GROUP]], %[[THREAD]])
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[PART]], %c1000
// CHECK: scf.if %[[IS]]
// CHECK: memref.load %arg0[%[[PART]]]
// CHECK: memref.store {{.*}}, %arg1[%[[PART]]]
exec.kernel @many calls @many_body : (memref<1000xf32>) -> memref<1000xf32> grid [#exec.size<1000>] scratch 0 {aliases = array<i64: 0>}
func.func private @many_body(%x: memref<1000xf32>, %y: memref<1000xf32>, %scratch: memref<0xi8>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %value = memref.load %x[%i] : memref<1000xf32>
    memref.store %value, %y[%i] : memref<1000xf32>
  }
  return
}

// -----

// As many as a power of two: nobody has to ask.
// CHECK-LABEL: exec.kernel @few
// CHECK-SAME: grid [#exec.size<1>] block [16] scratch 0
// CHECK-NOT: scf.if
exec.kernel @few calls @few_body : (memref<16xf32>) -> memref<16xf32> grid [#exec.size<16>] scratch 0
func.func private @few_body(%x: memref<16xf32>, %y: memref<16xf32>, %scratch: memref<0xi8>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %value = memref.load %x[%i] : memref<16xf32>
    memref.store %value, %y[%i] : memref<16xf32>
  }
  return
}

// -----

// Scratch memory is one worker's; threads that share a part have their block.
// CHECK-LABEL: exec.kernel @scratch
// CHECK-SAME: grid [#exec.size<16>] scratch 4096
// CHECK-LABEL: exec.kernel @shared
// CHECK-SAME: grid [#exec.size<16>] block [256] scratch 0
// CHECK-NOT: gpu.thread_id
exec.kernel @scratch calls @scratch_body : () -> memref<16xf32> grid [#exec.size<16>] scratch 4096
func.func private @scratch_body(%y: memref<16xf32>, %scratch: memref<4096xi8>, %begin: index, %end: index) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    memref.store %zero, %y[%i] : memref<16xf32>
  }
  return
}
exec.kernel @shared calls @shared_body : () -> memref<16xf32> grid [#exec.size<16>] block [256] scratch 0
func.func private @shared_body(%y: memref<16xf32>, %scratch: memref<0xi8>, %begin: index, %end: index) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    memref.store %zero, %y[%i] : memref<16xf32>
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-threads-to-nvvm | FileCheck %s

// CHECK-LABEL: func.func @kernel
func.func @kernel(%y: memref<32xf32>) {
  // CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[T:.*]] = arith.index_cast %[[ID]] : i32 to index
  %t = gpu.thread_id x
  // CHECK: memref.load %{{.*}}[%[[T]]]
  %x = memref.load %y[%t] : memref<32xf32>
  // CHECK: nvvm.barrier0
  gpu.barrier
  memref.store %x, %y[%t] : memref<32xf32>
  return
}

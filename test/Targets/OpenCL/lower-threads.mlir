// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-lower-threads | FileCheck %s

// CHECK-DAG: func.func private @_Z7barrierj(i32)
// CHECK-DAG: func.func private @_Z12get_local_idj(i32) -> i64
// CHECK-LABEL: func.func @kernel
func.func @kernel(%y: memref<32xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ID:.*]] = call @_Z12get_local_idj(%[[ZERO]])
  // CHECK: %[[T:.*]] = arith.index_cast %[[ID]] : i64 to index
  %t = gpu.thread_id x
  // CHECK: memref.load %{{.*}}[%[[T]]]
  %x = memref.load %y[%t] : memref<32xf32>
  // CHECK: %[[FENCE:.*]] = arith.constant 3 : i32
  // CHECK: call @_Z7barrierj(%[[FENCE]])
  gpu.barrier
  memref.store %x, %y[%t] : memref<32xf32>
  return
}

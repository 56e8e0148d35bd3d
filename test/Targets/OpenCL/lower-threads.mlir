// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-lower-threads | FileCheck %s

// CHECK-DAG: memref.global "private" @[[SHARED:.*]] : memref<32xf32, 3> = uninitialized {alignment = 64 : i64}
// CHECK-DAG: func.func private @_Z7barrierj(i32)
// CHECK-DAG: func.func private @_Z12get_local_idj(i32) -> i64
// CHECK-LABEL: func.func @kernel
func.func @kernel(%y: memref<32xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ID:.*]] = call @_Z12get_local_idj(%[[ZERO]])
  // CHECK: %[[T:.*]] = arith.index_cast %[[ID]] : i64 to index
  %t = gpu.thread_id x
  // CHECK: %[[M:.*]] = memref.get_global @[[SHARED]]
  %m = memref.alloc() : memref<32xf32, 3>
  // CHECK: memref.alloca() : memref<index>
  %own = memref.alloca() : memref<index>
  memref.store %t, %own[] : memref<index>
  %x = memref.load %y[%t] : memref<32xf32>
  // CHECK: memref.store %{{.*}}, %[[M]][%[[T]]]
  memref.store %x, %m[%t] : memref<32xf32, 3>
  // CHECK: %[[FENCE:.*]] = arith.constant 3 : i32
  // CHECK: call @_Z7barrierj(%[[FENCE]])
  gpu.barrier
  %z = memref.load %m[%t] : memref<32xf32, 3>
  memref.store %z, %y[%t] : memref<32xf32>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-share-variables | FileCheck %s

// CHECK-DAG: memref.global "private" @[[A:.*]] : memref<32xf32, 3> = uninitialized {alignment = 64 : i64}
// CHECK-DAG: memref.global "private" @[[B:.*]] : memref<4xi8, 3> = uninitialized {alignment = 64 : i64}
// CHECK-LABEL: func.func @kernel
func.func @kernel(%y: memref<32xf32>, %t: index) {
  // CHECK: %[[M:.*]] = memref.get_global @[[A]]
  %m = memref.alloc() : memref<32xf32, 3>
  // CHECK: memref.alloca() : memref<index>
  %own = memref.alloca() : memref<index>
  memref.store %t, %own[] : memref<index>
  // CHECK: memref.get_global @[[B]]
  %n = memref.alloc() : memref<4xi8, 3>
  // CHECK: memref.alloc() : memref<8xf32>
  %plain = memref.alloc() : memref<8xf32>
  %x = memref.load %y[%t] : memref<32xf32>
  // CHECK: memref.store %{{.*}}, %[[M]][
  memref.store %x, %m[%t] : memref<32xf32, 3>
  return
}

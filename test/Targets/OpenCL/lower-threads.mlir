// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-lower-threads --split-input-file --verify-diagnostics | FileCheck %s

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

// -----

// Lanes of a subgroup: words of 32 and 64 bits, less in a word.
// CHECK-LABEL: func.func @exchange
func.func @exchange(%x: f32, %y: f64, %z: bf16) -> (f32, f64, bf16) {
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  // CHECK: %[[W:.*]] = arith.bitcast %{{.*}} : f32 to i32
  // CHECK: call @_Z21sub_group_shuffle_xorij(%[[W]], %c4{{.*}}) : (i32, i32) -> i32
  %a, %0 = gpu.shuffle xor %x, %c4, %c16 : f32
  // CHECK: call @_Z21sub_group_shuffle_xorlj(%{{.*}}, %c4{{.*}}) : (i64, i32) -> i64
  %b, %1 = gpu.shuffle xor %y, %c4, %c16 : f64
  // CHECK: arith.extui %{{.*}} : i16 to i32
  // CHECK: call @_Z21sub_group_shuffle_xorij
  // CHECK: arith.trunci %{{.*}} : i32 to i16
  %c, %2 = gpu.shuffle xor %z, %c4, %c16 : bf16
  return %a, %b, %c : f32, f64, bf16
}

// -----

func.func @down(%x: f32) -> f32 {
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  // expected-error @below {{expected a number of up to 64 bits that lanes whose numbers differ in some bits exchange}}
  %a, %0 = gpu.shuffle down %x, %c2, %c16 : f32
  return %a : f32
}

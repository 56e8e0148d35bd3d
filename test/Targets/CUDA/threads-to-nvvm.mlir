// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-threads-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

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

// -----

// Words are exchanged: two of what has 64 bits, one of what has fewer than 32.
// CHECK-LABEL: func.func @exchange
func.func @exchange(%x: f32, %y: f64, %z: bf16) -> (f32, f64, bf16) {
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  // CHECK: %[[W:.*]] = arith.bitcast %{{.*}} : f32 to i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[W]], %c2{{.*}}, %c31{{.*}} : i32 -> i32
  %a, %0 = gpu.shuffle xor %x, %c2, %c32 : f32
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  // CHECK: arith.bitcast %{{.*}} : i64 to f64
  %b, %1 = gpu.shuffle xor %y, %c2, %c32 : f64
  // Within the 16 lanes of a half.
  // CHECK: arith.extui %{{.*}} : i16 to i32
  // CHECK: nvvm.shfl.sync bfly {{.*}}, %c4127_i32 : i32 -> i32
  %c, %2 = gpu.shuffle xor %z, %c2, %c16 : bf16
  return %a, %b, %c : f32, f64, bf16
}

// -----

func.func @down(%x: f32) -> f32 {
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  // expected-error @below {{expected a number of up to 64 bits that lanes whose numbers differ in some bits exchange}}
  %a, %0 = gpu.shuffle down %x, %c2, %c32 : f32
  return %a : f32
}

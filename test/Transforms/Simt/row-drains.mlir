// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-distribute-lanes="lanes=32 groups=8 shuffles" --canonicalize --cse | FileCheck %s
// RUN: ashlar-opt %s --split-input-file --ashlar-distribute-lanes="lanes=32 groups=8" | FileCheck %s --check-prefix=PAIRS

// Four fragments of 8 columns side by side, of which each of four lanes has two
// columns: they exchange words, two at a time, until each has a row of one
// fragment, and store that as one. Without shuffles they store what they have.
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>
!sums = !tile.acc<16x32xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @rows calls @rows_body : (memref<32xf32>) -> memref<16x32xbf16>
// CHECK-LABEL: func.func @rows_body(
// CHECK-DAG: %[[T:.*]] = gpu.thread_id x
// CHECK-COUNT-8: arith.truncf
// CHECK: arith.andi %[[T]], %c1
// CHECK: %[[GIVEN:.*]] = arith.select %[[HIGH:.*]], %[[LOW:.*]], %[[OTHER:.*]] : i32
// CHECK: %[[TAKEN:.*]], %{{.*}} = gpu.shuffle xor %[[GIVEN]], %c1
// CHECK: arith.select %[[HIGH]], %[[TAKEN]], %[[LOW]]
// CHECK: arith.select %[[HIGH]], %[[OTHER]], %[[TAKEN]]
// CHECK: gpu.shuffle xor {{.*}}, %c1
// CHECK-COUNT-2: gpu.shuffle xor {{.*}}, %c2
// CHECK: vector.store {{.*}} {alignment = 16 : i64} {{.*}} vector<8xbf16>
// CHECK-COUNT-4: gpu.shuffle
// CHECK: vector.store {{.*}} vector<8xbf16>
// CHECK-NOT: vector.store
// PAIRS-LABEL: func.func @rows_body(
// PAIRS-NOT: gpu.shuffle
// PAIRS-COUNT-8: vector.store {{.*}} vector<2xbf16>
func.func @rows_body(%p: memref<32xf32>, %c: memref<16x32xbf16>) attributes {tile.threads} {
  %zero = arith.constant 1.0 : f32
  %sum = tile.init %zero : f32 to !sums
  tile.drain %sum epilogue(%p : memref<32xf32>) to %c : memref<16x32xbf16> attributes {maps = [#n, #mn]} {
  ^bb0(%s: f32, %q: f32):
    %t = arith.addf %s, %q : f32
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } : !sums
  return
}

// -----

// Where some rows do not exist, all lanes exchange, and those store that have a
// row; an epilogue's operands are read where they are alone.
#mn = affine_map<(m, n) -> (m, n)>
!sums = !tile.acc<16x32xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @clipped calls @clipped_body : (memref<13x40xf32>) -> memref<13x40xbf16>
// CHECK-LABEL: func.func @clipped_body(
// CHECK: %[[WORD:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK:   memref.load
// CHECK: } else {
// CHECK:   scf.yield %c0_i32
// CHECK: gpu.shuffle
// CHECK: scf.if %{{.*}} {
// CHECK-NOT: scf.if
// CHECK: vector.store {{.*}} vector<8xbf16>
func.func @clipped_body(%p: memref<13x40xf32>, %c: memref<13x40xbf16>) attributes {tile.threads} {
  %zero = arith.constant 1.0 : f32
  %c8 = arith.constant 8 : index
  %sum = tile.init %zero : f32 to !sums
  %vp = memref.subview %p[0, 8] [13, 32] [1, 1] : memref<13x40xf32> to memref<13x32xf32, strided<[40, 1], offset: 8>>
  %vc = memref.subview %c[0, 8] [13, 32] [1, 1] : memref<13x40xbf16> to memref<13x32xbf16, strided<[40, 1], offset: 8>>
  tile.drain %sum epilogue(%vp : memref<13x32xf32, strided<[40, 1], offset: 8>>) to %vc : memref<13x32xbf16, strided<[40, 1], offset: 8>> attributes {maps = [#mn, #mn], clipped} {
  ^bb0(%s: f32, %q: f32):
    %t = arith.addf %s, %q : f32
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } : !sums
  return
}

// -----

// Rows that begin elsewhere than at multiples of 16 bytes are stored in pairs.
#mn = affine_map<(m, n) -> (m, n)>
!sums = !tile.acc<16x32xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @odd calls @odd_body : (memref<16x34xbf16>) -> memref<16x34xbf16>
// CHECK-LABEL: func.func @odd_body(
// CHECK-NOT: gpu.shuffle
// CHECK: vector.store {{.*}} vector<2xbf16>
func.func @odd_body(%a: memref<16x34xbf16>, %c: memref<16x34xbf16>) attributes {tile.threads} {
  %zero = arith.constant 1.0 : f32
  %sum = tile.init %zero : f32 to !sums
  %vc = memref.subview %c[0, 0] [16, 32] [1, 1] : memref<16x34xbf16> to memref<16x32xbf16, strided<[34, 1]>>
  tile.drain %sum to %vc : memref<16x32xbf16, strided<[34, 1]>> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } : !sums
  return
}

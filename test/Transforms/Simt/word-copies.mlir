// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --split-input-file "--ashlar-distribute-lanes=lanes=4 copy-words" --canonicalize --cse | FileCheck %s

#all = affine_map<(m, n) -> (m, n)>

// Rows that begin at multiples of 4 bytes alone are copied by words, of which
// each of 16 threads has 16: one by one, with addresses that are kept.
// CHECK-LABEL: func.func @few_body(
// CHECK: memref.alloc
// CHECK-NOT: scf.for
// CHECK-COUNT-16: tile.thread_copy {{.*}} {elements = 1 : i64}
// CHECK-NOT: tile.thread_copy
// CHECK: tile.thread_close
exec.kernel @few calls @few_body : (memref<8x33xf32>, memref<32x8xf32>) -> memref<8x8xf32>
func.func @few_body(%a: memref<8x33xf32>, %b: memref<32x8xf32>, %c: memref<8x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 8x32xf32, "local">
  %rb = tile.alloc : <2, 32x8xf32, "local">
  %none = tile.init %zero : f32 to <8x8xf32, groups = [group subgroup [2, 8]]>
  %sa, %ta = tile.copy %a to %ra {map = #all, engine = "words"} : memref<8x33xf32> to <2, 8x32xf32, "local">
  tile.wait %ta
  %sb, %tb = tile.copy %b to %rb {map = #all} : memref<32x8xf32> to <2, 32x8xf32, "local">
  tile.wait %tb
  %sums = tile.step %none, %sa, %sb {aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>, reduced = array<i64: 32>, unroll = 1 : i64} : <8x8xf32, groups = [group subgroup [2, 8]]>, !tile.slot<8x32xf32, "local">, !tile.slot<32x8xf32, "local">
  tile.release %sa : <8x32xf32, "local">
  tile.release %sb : <32x8xf32, "local">
  tile.drain %sums to %c : memref<8x8xf32> attributes {maps = [#all]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } : <8x8xf32, groups = [group subgroup [2, 8]]>
  return
}

// -----

#all = affine_map<(m, n) -> (m, n)>

// With 17 of them, addresses would be more than there are registers: a loop.
// CHECK-LABEL: func.func @many_body(
// CHECK: memref.alloc
// CHECK: scf.for
// CHECK: tile.thread_copy {{.*}} {elements = 1 : i64}
// CHECK-NOT: tile.thread_copy
// CHECK: tile.thread_close
exec.kernel @many calls @many_body : (memref<8x35xf32>, memref<34x8xf32>) -> memref<8x8xf32>
func.func @many_body(%a: memref<8x35xf32>, %b: memref<34x8xf32>, %c: memref<8x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 8x34xf32, "local">
  %rb = tile.alloc : <2, 34x8xf32, "local">
  %none = tile.init %zero : f32 to <8x8xf32, groups = [group subgroup [2, 8]]>
  %sa, %ta = tile.copy %a to %ra {map = #all, engine = "words"} : memref<8x35xf32> to <2, 8x34xf32, "local">
  tile.wait %ta
  %sb, %tb = tile.copy %b to %rb {map = #all} : memref<34x8xf32> to <2, 34x8xf32, "local">
  tile.wait %tb
  %sums = tile.step %none, %sa, %sb {aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>, reduced = array<i64: 34>, unroll = 1 : i64} : <8x8xf32, groups = [group subgroup [2, 8]]>, !tile.slot<8x34xf32, "local">, !tile.slot<34x8xf32, "local">
  tile.release %sa : <8x34xf32, "local">
  tile.release %sb : <34x8xf32, "local">
  tile.drain %sums to %c : memref<8x8xf32> attributes {maps = [#all]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } : <8x8xf32, groups = [group subgroup [2, 8]]>
  return
}

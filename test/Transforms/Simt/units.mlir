// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-distribute-lanes="lanes=32 groups=8" | FileCheck %s

// Two warps of a unit whose lanes hold four sums each of 16x8: a thread's are
// those that the fragment says. Pieces of 16 bytes are copied by themselves,
// the wait says how many groups of them may be unfinished; slots are swizzled.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
!sums = !tile.acc<32x8xf32, groups = [group warp [16, 8]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @unit calls @unit_body : (memref<32x64xbf16>, memref<64x8xbf16>) -> memref<32x8xbf16>
// CHECK: exec.kernel @unit calls @unit_body {{.*}} block [64]
// CHECK-LABEL: func.func @unit_body(
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK-DAG: memref.alloc() {alignment = 1024 : i64} : memref<1024xbf16, 3>
// CHECK-DAG: memref.alloc() : memref<256xbf16, 3>
// CHECK: tile.thread_copy %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}] {elements = 8 : i64}
// CHECK: tile.thread_close
// CHECK: tile.thread_close
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32, index, index)
// CHECK: tile.thread_wait 0
// CHECK-NEXT: gpu.barrier
// CHECK: arith.shrui
// CHECK: arith.xori
// CHECK: tile.thread_copy
// CHECK: tile.thread_close
// CHECK: tile.thread_copy
// CHECK: tile.thread_close
// CHECK: %[[A:.*]] = tile.slot_of
// CHECK: tile.thread_step %{{.*}} at[%{{.*}}, %{{.*}}] (%{{.*}} : f32, f32, f32, f32) a %[[A]]
// CHECK: scf.yield
// Neighbours are stored as one.
// CHECK: vector.store {{.*}} {alignment = 4 : i64} {{.*}} vector<2xbf16>
// CHECK: vector.store {{.*}} {alignment = 4 : i64} {{.*}} vector<2xbf16>
// CHECK-NOT: vector.store
func.func @unit_body(%a: memref<32x64xbf16>, %b: memref<64x8xbf16>, %c: memref<32x8xbf16>) attributes {tile.threads} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x8xbf16, "shared">
  %none = tile.init %zero : f32 to !sums
  %va = memref.subview %a[0, %c0] [32, 16] [1, 1] : memref<32x64xbf16> to memref<32x16xbf16, strided<[64, 1], offset: ?>>
  %s0, %t0 = tile.copy %va to %ra {engine = "async", map = #mn} : memref<32x16xbf16, strided<[64, 1], offset: ?>> to <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %vb = memref.subview %b[%c0, 0] [16, 8] [1, 1] : memref<64x8xbf16> to memref<16x8xbf16, strided<[8, 1], offset: ?>>
  %s1, %t1 = tile.copy %vb to %rb {engine = "async", map = #mn} : memref<16x8xbf16, strided<[8, 1], offset: ?>> to <2, 16x8xbf16, "shared">
  %all:5 = scf.for %k = %c0 to %c48 step %c16 iter_args(%acc = %none, %u0 = %t0, %u1 = %t1, %x0 = %s0, %x1 = %s1) -> (!sums, !tile.token, !tile.token, !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">) {
    tile.wait %u0
    tile.wait %u1
    %next = arith.addi %k, %c16 : index
    %wa = memref.subview %a[0, %next] [32, 16] [1, 1] : memref<32x64xbf16> to memref<32x16xbf16, strided<[64, 1], offset: ?>>
    %y0, %v0 = tile.copy %wa to %ra {engine = "async", map = #mn} : memref<32x16xbf16, strided<[64, 1], offset: ?>> to <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    %wb = memref.subview %b[%next, 0] [16, 8] [1, 1] : memref<64x8xbf16> to memref<16x8xbf16, strided<[8, 1], offset: ?>>
    %y1, %v1 = tile.copy %wb to %rb {engine = "async", map = #mn} : memref<16x8xbf16, strided<[8, 1], offset: ?>> to <2, 16x8xbf16, "shared">
    %sum = tile.step %acc, %x0, %x1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
    tile.release %x0 : <32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
    tile.release %x1 : <16x8xbf16, "shared">
    scf.yield %sum, %v0, %v1, %y0, %y1 : !sums, !tile.token, !tile.token, !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
  }
  tile.wait %all#1
  tile.wait %all#2
  %last = tile.step %all#0, %all#3, %all#4 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
  tile.release %all#3 : <32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  tile.release %all#4 : <16x8xbf16, "shared">
  tile.drain %last to %c : memref<32x8xbf16> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } : !sums
  return
}

// -----

// What a kernel made on its way lies in the workgroup's memory, of which no
// engine copies: threads do.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
!sums = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @inside calls @inside_body : (memref<16x8xbf16>) -> memref<16x8xbf16>
// CHECK-LABEL: func.func @inside_body(
// CHECK: tile.thread_copy
// CHECK-NOT: tile.thread_copy
// CHECK: return
func.func @inside_body(%b: memref<16x8xbf16>, %c: memref<16x8xbf16>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %own = memref.alloc() : memref<16x16xbf16>
  %ones = tile.init %zero : f32 to <16x16xf32>
  tile.drain %ones to %own : memref<16x16xbf16> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } : <16x16xf32>
  %ra = tile.alloc : <2, 16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x8xbf16, "shared">
  %none = tile.init %zero : f32 to !sums
  %s0, %t0 = tile.copy %own to %ra {engine = "async", map = #mn} : memref<16x16xbf16> to <2, 16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %s1, %t1 = tile.copy %b to %rb {engine = "async", map = #mn} : memref<16x8xbf16> to <2, 16x8xbf16, "shared">
  tile.wait %t0
  tile.wait %t1
  %sum = tile.step %none, %s0, %s1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !tile.slot<16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
  tile.release %s0 : <16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  tile.release %s1 : <16x8xbf16, "shared">
  tile.drain %sum to %c : memref<16x8xbf16> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } : !sums
  return
}

// -----

// One warp has all of the first sums, two have the second: the second warp reads
// for the first ones what the first one reads.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
!one = !tile.acc<16x8xf32, groups = [group warp [16, 8]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
!two = !tile.acc<32x8xf32, groups = [group warp [16, 8]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @fewer calls @fewer_body : (memref<32x16xbf16>, memref<16x8xbf16>) -> (memref<16x8xf32>, memref<32x8xf32>)
// CHECK: exec.kernel @fewer calls @fewer_body {{.*}} block [64]
// CHECK-LABEL: func.func @fewer_body(
// CHECK: %[[WARP:.*]] = arith.divui %{{.*}}, %c32
// CHECK: arith.remui %[[WARP]], %c1
// CHECK: tile.thread_step
func.func @fewer_body(%a: memref<32x16xbf16>, %b: memref<16x8xbf16>, %c: memref<16x8xf32>, %d: memref<32x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x8xbf16, "shared">
  %s0, %t0 = tile.copy %a to %ra {engine = "async", map = #mn} : memref<32x16xbf16> to <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %s1, %t1 = tile.copy %b to %rb {engine = "async", map = #mn} : memref<16x8xbf16> to <2, 16x8xbf16, "shared">
  tile.wait %t0
  tile.wait %t1
  %none = tile.init %zero : f32 to !one
  %sum = tile.step %none, %s0, %s1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !one, !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
  %none2 = tile.init %zero : f32 to !two
  %sum2 = tile.step %none2, %s0, %s1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !two, !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
  tile.release %s0 : <32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  tile.release %s1 : <16x8xbf16, "shared">
  tile.drain %sum to %c : memref<16x8xf32> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } : !one
  tile.drain %sum2 to %d : memref<32x8xf32> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } : !two
  return
}

// -----

// As many rows as a value says still begin where the argument does.
#mn = affine_map<(m, n) -> (m, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
!sums = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @sized calls @sized_body : (memref<16x16xbf16>, memref<16x8xbf16>) -> memref<16x8xf32>
// CHECK-LABEL: func.func @sized_body(
// CHECK: tile.thread_copy
// CHECK: tile.thread_copy
// CHECK-NOT: tile.thread_copy
// CHECK: return
func.func @sized_body(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>, %c: memref<16x8xf32>, %m: index) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %sized = memref.reinterpret_cast %a to offset: [0], sizes: [%m, 16], strides: [16, 1] : memref<16x16xbf16> to memref<?x16xbf16, strided<[16, 1]>>
  %va = memref.subview %sized[0, 0] [%m, 16] [1, 1] : memref<?x16xbf16, strided<[16, 1]>> to memref<?x16xbf16, strided<[16, 1]>>
  %ra = tile.alloc : <2, 16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x8xbf16, "shared">
  %none = tile.init %zero : f32 to !sums
  %s0, %t0 = tile.copy %va to %ra {engine = "async", map = #mn, padded} : memref<?x16xbf16, strided<[16, 1]>> to <2, 16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %s1, %t1 = tile.copy %b to %rb {engine = "async", map = #mn} : memref<16x8xbf16> to <2, 16x8xbf16, "shared">
  tile.wait %t0
  tile.wait %t1
  %sum = tile.step %none, %s0, %s1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !tile.slot<16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
  tile.release %s0 : <16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  tile.release %s1 : <16x8xbf16, "shared">
  tile.drain %sum to %c : memref<16x8xf32> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } : !sums
  return
}

// -----

// Rows that end inside of 16 bytes, and begin at multiples of them: of the last
// piece as much is read as there is.
#mn = affine_map<(m, n) -> (m, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
!sums = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
exec.kernel @ends calls @ends_body : (memref<16x16xbf16>, memref<16x8xbf16>) -> memref<16x8xf32>
// CHECK-LABEL: func.func @ends_body(
// CHECK: arith.cmpi slt
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c8
// CHECK: tile.thread_copy {{.*}}, %{{.*}} first %[[COUNT]] {elements = 8 : i64}
func.func @ends_body(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>, %c: memref<16x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %va = memref.subview %a[0, 0] [16, 13] [1, 1] : memref<16x16xbf16> to memref<16x13xbf16, strided<[16, 1]>>
  %ra = tile.alloc : <2, 16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x8xbf16, "shared">
  %none = tile.init %zero : f32 to !sums
  %s0, %t0 = tile.copy %va to %ra {engine = "async", map = #mn, padded} : memref<16x13xbf16, strided<[16, 1]>> to <2, 16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %s1, %t1 = tile.copy %b to %rb {engine = "async", map = #mn} : memref<16x8xbf16> to <2, 16x8xbf16, "shared">
  tile.wait %t0
  tile.wait %t1
  %sum = tile.step %none, %s0, %s1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !tile.slot<16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>, !tile.slot<16x8xbf16, "shared">
  tile.release %s0 : <16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  tile.release %s1 : <16x8xbf16, "shared">
  tile.drain %sum to %c : memref<16x8xf32> attributes {maps = [#mn]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } : !sums
  return
}

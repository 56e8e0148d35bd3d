// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-distribute-lanes="lanes=32 groups=8 scopes=warp=32,warpgroup=128" | FileCheck %s

// The first 64 threads compute, one of those behind them copies. Each slot has
// a word for who fills it and one for the two warps that read it; both sides
// wait for a phase of their own parity.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
!sums = !tile.acc<32x8xf32, groups = [group warp [16, 8]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
!left = !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
!right = !tile.slot<16x8xbf16, "shared">
exec.kernel @unit calls @unit_body : (memref<32x64xbf16>, memref<64x8xbf16>) -> memref<32x8xbf16>
// CHECK: exec.kernel @unit calls @unit_body {{.*}} block [96]
// CHECK-SAME: tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 32], strides [2, 128], box[16, 32], swizzle 32>, #exec.tensor_map<1 : bf16, sizes [8, 64], strides [2, 16], box[8, 16], swizzle 0>]
// CHECK-LABEL: func.func @unit_body(
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK-DAG: memref.alloc() {alignment = 1024 : i64} : memref<1024xbf16, 3>
// CHECK-DAG: memref.alloc() : memref<256xbf16, 3>
// CHECK-DAG: memref.alloc() : memref<4xi64, 3>
// CHECK: arith.cmpi eq, %[[T]], %c0
// CHECK: scf.if
// CHECK: tile.phase_begin %{{.*}} of 1
// CHECK: tile.phase_begin %{{.*}} of 2
// CHECK: tile.phase_publish
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK:   scf.for
// CHECK:     tile.phase_wait
// CHECK:     tile.phase_wait
// CHECK:     tile.thread_step
// CHECK:     scf.if
// CHECK:       tile.phase_arrive %{{.*}} : memref<4xi64, 3>
// CHECK:   vector.store
// CHECK: } else {
// CHECK:   scf.if
// CHECK:     scf.for
// CHECK:       arith.xori
// CHECK:       tile.phase_wait
// CHECK:       tile.phase_arrive %{{.*}} {expecting = 1024 : i64}
// CHECK:       tile.thread_box_copy %arg0[%c0{{.*}}, %{{.*}}], {{.*}} map 0
// CHECK:       tile.phase_wait
// CHECK:       tile.phase_arrive %{{.*}} {expecting = 256 : i64}
// CHECK:       tile.thread_box_copy %arg1[%{{.*}}, %c0{{.*}}], {{.*}} map 1
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK:   tile.phase_end
func.func @unit_body(%a: memref<32x64xbf16>, %b: memref<64x8xbf16>, %c: memref<32x8xbf16>) attributes {tile.threads} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x8xbf16, "shared">
  %none = tile.init %zero : f32 to !sums
  tile.role "producer" concurrent by <producer warp x 1> {
    scf.for %k = %c0 to %c64 step %c16 {
      %va = memref.subview %a[0, %k] [32, 16] [1, 1] : memref<32x64xbf16> to memref<32x16xbf16, strided<[64, 1], offset: ?>>
      %s0, %t0 = tile.copy %va to %ra {engine = "tma", map = #mn} : memref<32x16xbf16, strided<[64, 1], offset: ?>> to <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      %vb = memref.subview %b[%k, 0] [16, 8] [1, 1] : memref<64x8xbf16> to memref<16x8xbf16, strided<[8, 1], offset: ?>>
      %s1, %t1 = tile.copy %vb to %rb {engine = "tma", map = #mn} : memref<16x8xbf16, strided<[8, 1], offset: ?>> to <2, 16x8xbf16, "shared">
    }
  }
  tile.role "consumer" concurrent by <consumer warp x 2> {
    %all = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %none) -> !sums {
      %x0 = tile.take %ra : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      %x1 = tile.take %rb : <2, 16x8xbf16, "shared">
      %sum = tile.step %acc, %x0, %x1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !left, !right
      tile.release %x0 : <32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      tile.release %x1 : <16x8xbf16, "shared">
      scf.yield %sum : !sums
    }
    tile.drain %all to %c : memref<32x8xbf16> attributes {maps = [#mn]} {
    ^bb0(%s: f32):
      %z = arith.truncf %s : f32 to bf16
      tile.yield %z : bf16
    } : !sums
  }
  return
}

// -----

!sums = !tile.acc<32x8xf32, groups = [group warp [16, 8]]>
exec.kernel @unnamed calls @unnamed_body : () -> memref<32x8xf32>
func.func @unnamed_body(%c: memref<32x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !sums
  // expected-error @below {{expected concurrent roles, 'producer' and 'consumer', whose teams are of the machine's scopes}}
  tile.role "producer" concurrent by <producer team x 1> {
  }
  // expected-note @below {{this follows it}}
  tile.role "consumer" concurrent by <consumer warp x 2> {
    tile.drain %none to %c : memref<32x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
    ^bb0(%s: f32):
      tile.yield %s : f32
    } : !sums
  }
  return
}

// -----

// Groups take turns: each waits at its own barrier, and arrives at that of the
// next. Once, the last one lets the first begin, and the first waits for the
// last turn of the last.
// CHECK-LABEL: func.func @turns_body(
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: arith.cmpi uge, %[[T]], %c128
// CHECK: scf.if
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: tile.thread_turn %{{.*}} of 256 arrives
// CHECK-NEXT: } {tile.once = "begin"}
// CHECK: scf.if
// CHECK:   %[[G:.*]] = arith.divui %[[T]], %c128
// CHECK:   %[[N:.*]] = arith.index_cast %[[G]]
// CHECK:   tile.thread_turn %[[N]] of 256
// CHECK:   %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK:   %[[NEXT:.*]] = arith.select %[[LAST]], %c0{{.*}}, %{{.*}} : index
// CHECK:   %[[N1:.*]] = arith.index_cast %[[NEXT]]
// CHECK:   tile.thread_turn %[[N1]] of 256 arrives
// CHECK: scf.if
// CHECK-NOT: arrives
// CHECK: {tile.once = "end"}
!sums = !tile.acc<128x8xf32, groups = [group warpgroup [64, 8]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0, 16, 0, 32, 0], in_flight 1>>
#mn = affine_map<(m, n) -> (m, n)>
exec.kernel @turns calls @turns_body : () -> memref<128x8xf32>
func.func @turns_body(%c: memref<128x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !sums
  // Who is no role has none.
  tile.take_turn 2
  tile.role "producer" concurrent by <producer warpgroup x 1> {
  }
  tile.role "consumer" concurrent by <consumer warpgroup x 2> {
    tile.take_turn 2
    tile.drain %none to %c : memref<128x8xf32> attributes {maps = [#mn]} {
    ^bb0(%s: f32):
      tile.yield %s : f32
    } : !sums
    tile.pass_turn 2
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-expand-contracts --canonicalize --ashlar-hoist-roles="engines=tma otherwise=async" --ashlar-distribute-lanes="lanes=32 groups=8 scopes=warp=32,warpgroup=128" | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
#rows = #exec.size<affine_map<()[s0, s1] -> (s0)>, largest = 96>
#terms = #exec.size<affine_map<()[s0, s1] -> (s1 * 8)>, largest = 64>

// Of rows of which each call chooses how many, and terms of which it chooses
// eights, the map's formulas say so: the engine reads zeros behind their ends.
exec.kernel @open calls @open_body : (memref<96x64xbf16>, memref<8x64xbf16>) -> memref<96x8xf32> {parameters = [#rows, #terms]}
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0, s1] -> (s0)>
// CHECK-DAG: #[[TERMS:.*]] = affine_map<()[s0, s1] -> (s1 * 8)>
// CHECK-DAG: #[[BYTES:.*]] = affine_map<()[s0, s1] -> (s1 * 16)>
// CHECK: exec.kernel @open calls @open_body
// CHECK-SAME: #exec.tensor_map<0 : bf16, sizes [<#[[TERMS]], largest = 64>, <#[[ROWS]], largest = 96>], strides [2, <#[[BYTES]], largest = 128>], box[16, 16], swizzle 32>
// CHECK-SAME: #exec.tensor_map<1 : bf16, sizes [<#[[TERMS]], largest = 64>, 8], strides [2, <#[[BYTES]], largest = 128>], box[16, 8], swizzle 32>
// CHECK-LABEL: func.func @open_body(
// CHECK: tile.thread_box_copy %arg0[%{{.*}}, %{{.*}}], {{.*}} map 0
// CHECK: tile.thread_box_copy %arg1[%{{.*}}, %{{.*}}], {{.*}} map 1
func.func @open_body(%x: memref<96x64xbf16>, %w: memref<8x64xbf16>, %y: memref<96x8xf32>,
                     %m: index {exec.size = #rows}, %k: index {exec.size = #terms}) attributes {tile.threads} {
  %vx = memref.reinterpret_cast %x to offset: [0], sizes: [%m, %k], strides: [%k, 1] : memref<96x64xbf16> to memref<?x?xbf16, strided<[?, 1]>>
  %a = memref.cast %vx : memref<?x?xbf16, strided<[?, 1]>> to memref<?x?xbf16>
  %vw = memref.reinterpret_cast %w to offset: [0], sizes: [8, %k], strides: [%k, 1] : memref<8x64xbf16> to memref<8x?xbf16, strided<[?, 1]>>
  %b = memref.cast %vw : memref<8x?xbf16, strided<[?, 1]>> to memref<8x?xbf16>
  %vy = memref.reinterpret_cast %y to offset: [0], sizes: [%m, 8], strides: [8, 1] : memref<96x8xf32> to memref<?x8xf32, strided<[8, 1]>>
  %c = memref.cast %vy : memref<?x8xf32, strided<[8, 1]>> to memref<?x8xf32>
  tile.contract a(%a : memref<?x?xbf16>) b(%b : memref<8x?xbf16>) outs(%c : memref<?x8xf32>) attributes {
    exec.dim_parameters = array<i64: 0, -1, 1>,
    maps = [#mk, #nk, #mn], parallel = array<i64: 96, 8>, reduced = array<i64: 64>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [16, 8 | _], loop [16, 8 | 16] order [2],
      a: ring shared at 1 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 1 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, acc registers, masked [0, 2],
      role producer warp x 1, role consumer warp x 1,
      hints {fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>}>} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
#terms = #exec.size<affine_map<()[s0] -> (s0)>, largest = 64>

// Rows that begin anywhere are none that the engine takes: threads copy them.
exec.kernel @anywhere calls @anywhere_body : (memref<16x64xbf16>, memref<8x64xbf16>) -> memref<16x8xf32> {parameters = [#terms]}
// CHECK-LABEL: func.func @anywhere_body(
// CHECK-NOT: tile.thread_box_copy
// CHECK: tile.thread_step
func.func @anywhere_body(%x: memref<16x64xbf16>, %w: memref<8x64xbf16>, %y: memref<16x8xf32>,
                         %k: index {exec.size = #terms}) attributes {tile.threads} {
  %vx = memref.reinterpret_cast %x to offset: [0], sizes: [16, %k], strides: [%k, 1] : memref<16x64xbf16> to memref<16x?xbf16, strided<[?, 1]>>
  %a = memref.cast %vx : memref<16x?xbf16, strided<[?, 1]>> to memref<16x?xbf16>
  %vw = memref.reinterpret_cast %w to offset: [0], sizes: [8, %k], strides: [%k, 1] : memref<8x64xbf16> to memref<8x?xbf16, strided<[?, 1]>>
  %b = memref.cast %vw : memref<8x?xbf16, strided<[?, 1]>> to memref<8x?xbf16>
  tile.contract a(%a : memref<16x?xbf16>) b(%b : memref<8x?xbf16>) outs(%y : memref<16x8xf32>) attributes {
    exec.dim_parameters = array<i64: -1, -1, 0>,
    maps = [#mk, #nk, #mn], parallel = array<i64: 16, 8>, reduced = array<i64: 64>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [16, 8 | _], loop [16, 8 | 16] order [2],
      a: ring shared at 1 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 1 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, acc registers, masked [2],
      role producer warp x 1, role consumer warp x 1,
      hints {fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>}>} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-expand-contracts --ashlar-hoist-roles="engines=tma otherwise=async" --ashlar-distribute-lanes="lanes=32 groups=8 scopes=warp=32,warpgroup=128" --canonicalize | FileCheck %s

#a = affine_map<(h, w, o, r, s, c) -> (h * 2 + r, w * 2 + s, c)>
#b = affine_map<(h, w, o, r, s, c) -> (o, r, s, c)>
#y = affine_map<(h, w, o) -> (h, w, o)>

// The tensor map is that of the tensor without margins, and boxes begin as far
// in front of where they would with them.
exec.kernel @boxes calls @boxes_body : (memref<13x16x16xbf16>, memref<8x3x3x16xbf16>) -> memref<7x8x8xf32>
// CHECK: exec.kernel @boxes calls @boxes_body
// CHECK-SAME: #exec.tensor_map<0 : bf16, sizes [16, 16, 13], strides [2, 32, 512], box[16, 15, 3], steps[1, 2, 2], swizzle 32>
// CHECK-LABEL: func.func @boxes_body(
// CHECK: %[[H:.*]] = arith.subi %{{.*}}, %c1 : index
// CHECK: %[[W:.*]] = arith.subi %{{.*}}, %c2 : index
// CHECK: tile.thread_box_copy %arg0[%[[H]], %[[W]], %c0], {{.*}} map 0
// CHECK-NOT: tile.decode
func.func @boxes_body(%x: memref<13x16x16xbf16>, %f: memref<8x3x3x16xbf16>, %y: memref<7x8x8xf32>) attributes {tile.threads} {
  %p = tile.decode %x maps [affine_map<(h, w, c) -> (h - 1, w - 2, c)>] padded : memref<13x16x16xbf16> -> memref<15x18x16xbf16> {
  ^bb0(%element: bf16, %h: index, %w: index, %i: index):
    tile.decoded %element : bf16
  }
  tile.contract a(%p : memref<15x18x16xbf16>) b(%f : memref<8x3x3x16xbf16>) outs(%y : memref<7x8x8xf32>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 7, 8, 8>, reduced = array<i64: 3, 3, 16>,
    strategy = #tile.strategy<"unit" m [0, 1] n [2] k [3, 4, 5], grid block [2, 8, 8 | _, _, _], loop [2, 8, 8 | 1, 1, 16] order [3, 4, 5],
      a: ring shared at 1 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 1 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, acc registers, masked [0],
      role producer warp x 1, role consumer warp x 1,
      hints {fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>}>} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  }
  return
}

// -----

#a = affine_map<(h, w, o, r, s, c) -> (h * 2 + r, w * 2 + s, c)>
#b = affine_map<(h, w, o, r, s, c) -> (o, r, s, c)>
#y = affine_map<(h, w, o) -> (h, w, o)>

// Threads ask whether each piece is of the tensor.
exec.kernel @pieces calls @pieces_body : (memref<15x16x16xbf16>, memref<8x3x3x16xbf16>) -> memref<8x8x8xf32>
// CHECK-LABEL: func.func @pieces_body(
// CHECK: %[[H:.*]] = arith.cmpi ult, %{{.*}}, %c15 : index
// CHECK: %[[W:.*]] = arith.cmpi ult, %{{.*}}, %c16 : index
// CHECK: %[[IN:.*]] = arith.andi %[[H]], %[[W]] : i1
// CHECK: tile.thread_copy %arg0[{{.*}}], %{{.*}}[%{{.*}}], %[[IN]] {elements = 8 : i64}
func.func @pieces_body(%x: memref<15x16x16xbf16>, %f: memref<8x3x3x16xbf16>, %y: memref<8x8x8xf32>) attributes {tile.threads} {
  %p = tile.decode %x maps [affine_map<(h, w, c) -> (h - 1, w - 1, c)>] padded : memref<15x16x16xbf16> -> memref<17x18x16xbf16> {
  ^bb0(%element: bf16, %h: index, %w: index, %i: index):
    tile.decoded %element : bf16
  }
  tile.contract a(%p : memref<17x18x16xbf16>) b(%f : memref<8x3x3x16xbf16>) outs(%y : memref<8x8x8xf32>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 8, 8, 8>, reduced = array<i64: 3, 3, 16>,
    strategy = #tile.strategy<"unit" m [0, 1] n [2] k [3, 4, 5], grid block [2, 8, 8 | _, _, _], loop [2, 8, 8 | 1, 1, 16] order [3, 4, 5],
      a: ring shared at 1 slots 2 by async #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 1 slots 2 by async #tile.layout<swizzle [1, 3, 3]>, acc registers,
      hints {fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>}>} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  }
  return
}

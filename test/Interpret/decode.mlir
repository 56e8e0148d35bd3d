// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand that is computed where it is copied: numbers of 4 bits in blocks of
// 16 with a scale each, in tiles that its sizes do not suit. Copies that run
// ahead compute what the tiles of later terms read; in loops all of it is memory.
// RUN: ashlar-opt %s --verify-diagnostics -o /dev/null --ashlar-interpret-kernels="through=ashlar-expand-contracts,canonicalize schedules=10"
// RUN: ashlar-opt %s --verify-diagnostics -o /dev/null --ashlar-interpret-kernels="through=ashlar-expand-contracts,canonicalize,ashlar-pipeline-copies{engines=engine} schedules=10"
// RUN: ashlar-opt %s --verify-diagnostics -o /dev/null --ashlar-interpret-kernels="through=ashlar-tile-to-loops schedules=1"

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
#bytes = affine_map<(n, k) -> (n, k floordiv 16, k mod 8)>
#scales = affine_map<(n, k) -> (n, k floordiv 16)>
// expected-remark@+1 {{interpreted under}}
func.func @product(%a: memref<7x48xf32>, %b: memref<10x3x8xi8>, %s: memref<10x3xf32>, %c: memref<7x10xf32>) {
  %w = tile.decode %b, %s maps [#bytes, #scales] : memref<10x3x8xi8>, memref<10x3xf32> -> memref<10x48xf32> {
  ^bb0(%byte: i8, %scale: f32, %n: index, %k: index):
    %c4 = arith.constant 4 : i32
    %c15 = arith.constant 15 : i32
    %part = affine.apply affine_map<(k) -> ((k floordiv 8) mod 2)>(%k)
    %i = arith.index_cast %part : index to i32
    %bits = arith.muli %i, %c4 : i32
    %word = arith.extui %byte : i8 to i32
    %shifted = arith.shrui %word, %bits : i32
    %code = arith.andi %shifted, %c15 : i32
    %number = arith.uitofp %code : i32 to f32
    %x = arith.mulf %number, %scale : f32
    tile.decoded %x : f32
  }
  tile.contract a(%a : memref<7x48xf32>) b(%w : memref<10x48xf32>) outs(%c : memref<7x10xf32>) attributes {
    parallel = array<i64: 7, 10>, reduced = array<i64: 48>, maps = [#mk, #nk, #mn],
    strategy = #tile.strategy<"lanes" m [0] n [1] k [2], grid block [4, 8 | _], loop [4, 8 | 16] order [2],
      a: ring near at 1 slots 3 by engine, b: ring near at 1 slots 3 by lanes, acc sums, masked [0, 1]>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// A window in steps of two on a tensor with zeros around it, more of them behind
// than in front.
#a = affine_map<(h, w, o, r, s, c) -> (h * 2 + r, w * 2 + s, c)>
#b = affine_map<(h, w, o, r, s, c) -> (r, s, c, o)>
#y = affine_map<(h, w, o) -> (h, w, o)>
// expected-remark@+1 {{interpreted under}}
func.func @window(%x: memref<9x6x8xf32>, %f: memref<3x3x8x10xf32>, %c: memref<5x4x10xf32>) {
  %p = tile.decode %x maps [affine_map<(h, w, c) -> (h - 1, w - 1, c)>] padded : memref<9x6x8xf32> -> memref<11x9x8xf32> {
  ^bb0(%element: f32, %h: index, %w: index, %i: index):
    tile.decoded %element : f32
  }
  tile.contract a(%p : memref<11x9x8xf32>) b(%f : memref<3x3x8x10xf32>) outs(%c : memref<5x4x10xf32>) attributes {
    parallel = array<i64: 5, 4, 10>, reduced = array<i64: 3, 3, 8>, maps = [#a, #b, #y],
    strategy = #tile.strategy<"lanes" m [0, 1] n [2] k [3, 4, 5], grid block [2, 4, 8 | _, _, _], loop [2, 4, 8 | 1, 1, 8] order [3, 4, 5],
      a: ring near at 1 slots 3 by engine, b: ring near at 1 slots 3 by engine, acc sums, masked [0, 2]>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

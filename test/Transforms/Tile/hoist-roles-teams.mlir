// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-expand-contracts --ashlar-hoist-roles="engines=tma otherwise=async" --canonicalize | FileCheck %s

// Where a strategy names roles, they have its teams.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @teams
// CHECK: tile.role "producer" concurrent by <producer warp x 1>
// CHECK: tile.copy {{.*}} {engine = "tma"
// CHECK: tile.role "consumer" concurrent by <consumer warpgroup x 2 registers 232>
// CHECK: tile.take
// CHECK-NOT: tile.teams
func.func @teams(%a: memref<128x64xbf16>, %b: memref<64x256xbf16>, %c: memref<128x256xf32>) {
  tile.contract a(%a : memref<128x64xbf16>) b(%b : memref<64x256xbf16>) outs(%c : memref<128x256xf32>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 128, 256>, reduced = array<i64: 64>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [64, 128 | _], loop [64, 128 | 32] order [2],
      a: ring shared at 1 slots 2 by tma, b: ring shared at 1 slots 2 by tma, acc registers,
      role producer warp x 1, role consumer warpgroup x 2 registers 232>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// A masked end is where the tensor ends: zeros are read behind it.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @masked
// CHECK: tile.role "producer" concurrent by
// CHECK: tile.copy {{.*}} {engine = "tma", {{.*}}padded}
func.func @masked(%a: memref<100x72xbf16>, %b: memref<72x136xbf16>, %c: memref<100x136xf32>) {
  tile.contract a(%a : memref<100x72xbf16>) b(%b : memref<72x136xbf16>) outs(%c : memref<100x136xf32>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 100, 136>, reduced = array<i64: 72>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [64, 128 | _], loop [64, 128 | 32] order [2],
      a: ring shared at 1 slots 2 by tma, b: ring shared at 1 slots 2 by tma, acc registers, masked [0, 1, 2],
      role producer warp x 1, role consumer warpgroup x 2>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Rows that begin at other places than the engine takes are copied by others.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @odd
// CHECK-NOT: tile.role
// CHECK: tile.copy {{.*}} {engine = "async"
// CHECK-NOT: "tma"
// expected-remark @below {{roles do not share out its threads: rows of its source begin at other places than multiples of 16 bytes}}
func.func @odd(%a: memref<128x63xbf16>, %b: memref<63x256xbf16>, %c: memref<128x256xf32>) {
  tile.contract a(%a : memref<128x63xbf16>) b(%b : memref<63x256xbf16>) outs(%c : memref<128x256xf32>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 128, 256>, reduced = array<i64: 63>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [64, 128 | _], loop [64, 128 | 32] order [2],
      a: ring shared at 1 slots 2 by tma, b: ring shared at 1 slots 2 by tma, acc registers, masked [2],
      role producer warp x 1, role consumer warpgroup x 2>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Nobody named roles.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @none
// CHECK-NOT: tile.role
// CHECK: tile.copy {{.*}} {engine = "async"
func.func @none(%a: memref<128x64xbf16>, %b: memref<64x256xbf16>, %c: memref<128x256xf32>) {
  tile.contract a(%a : memref<128x64xbf16>) b(%b : memref<64x256xbf16>) outs(%c : memref<128x256xf32>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 128, 256>, reduced = array<i64: 64>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [64, 128 | _], loop [64, 128 | 32] order [2],
      a: ring shared at 1 slots 2 by tma, b: ring shared at 1 slots 2 by tma, acc registers>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// What is no argument as it lies, but seen in another shape, has no tensor map.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @reshaped
// CHECK-NOT: tile.role
// CHECK: tile.copy {{.*}} {engine = "async"
// CHECK-NOT: "tma"
// expected-remark @below {{roles do not share out its threads: its source is no tensor that the kernel is given}}
func.func @reshaped(%flat: memref<8192xbf16>, %b: memref<64x256xbf16>, %c: memref<128x256xf32>) {
  %a = memref.expand_shape %flat [[0, 1]] output_shape [128, 64] : memref<8192xbf16> into memref<128x64xbf16>
  tile.contract a(%a : memref<128x64xbf16>) b(%b : memref<64x256xbf16>) outs(%c : memref<128x256xf32>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 128, 256>, reduced = array<i64: 64>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [64, 128 | _], loop [64, 128 | 32] order [2],
      a: ring shared at 1 slots 2 by tma, b: ring shared at 1 slots 2 by tma, acc registers,
      role producer warp x 1, role consumer warpgroup x 2>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Zeros in front of a tensor are read as those behind it.
#a = affine_map<(h, w, o, c) -> (h, w, c)>
#b = affine_map<(h, w, o, c) -> (c, o)>
#y = affine_map<(h, w, o) -> (h, w, o)>
// CHECK-LABEL: func.func @margins
// CHECK: tile.decode
// CHECK: tile.role "producer" concurrent by
// CHECK: tile.copy {{.*}} {engine = "tma"
func.func @margins(%x: memref<14x14x64xbf16>, %f: memref<64x128xbf16>, %c: memref<16x16x128xf32>) {
  %p = tile.decode %x maps [affine_map<(h, w, c) -> (h - 1, w - 1, c)>] padded : memref<14x14x64xbf16> -> memref<16x16x64xbf16> {
  ^bb0(%element: bf16, %h: index, %w: index, %i: index):
    tile.decoded %element : bf16
  }
  tile.contract a(%p : memref<16x16x64xbf16>) b(%f : memref<64x128xbf16>) outs(%c : memref<16x16x128xf32>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 16, 16, 128>, reduced = array<i64: 64>,
    strategy = #tile.strategy<"unit" m [0, 1] n [2] k [3], grid block [8, 8, 128 | _], loop [8, 8, 128 | 32] order [3],
      a: ring shared at 1 slots 2 by tma, b: ring shared at 1 slots 2 by tma, acc registers,
      role producer warp x 1, role consumer warpgroup x 1>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// What else is computed on the way is no box.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @computed
// CHECK-NOT: tile.role
// expected-remark @below {{roles do not share out its threads: its source is computed where it is copied}}
func.func @computed(%x: memref<128x64xbf16>, %b: memref<64x256xbf16>, %c: memref<128x256xf32>) {
  %a = tile.decode %x maps [#mn] : memref<128x64xbf16> -> memref<128x64xbf16> {
  ^bb0(%element: bf16, %m: index, %k: index):
    %y = arith.negf %element : bf16
    tile.decoded %y : bf16
  }
  tile.contract a(%a : memref<128x64xbf16>) b(%b : memref<64x256xbf16>) outs(%c : memref<128x256xf32>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 128, 256>, reduced = array<i64: 64>,
    strategy = #tile.strategy<"unit" m [0] n [1] k [2], grid block [64, 128 | _], loop [64, 128 | 32] order [2],
      a: ring shared at 1 slots 2 by tma, b: ring shared at 1 slots 2 by tma, acc registers,
      role producer warp x 1, role consumer warpgroup x 2>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

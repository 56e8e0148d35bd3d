// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-contracts --verify-diagnostics

// This pass chooses nothing.
func.func @no_strategy(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op has no strategy; the stage fuse chooses one}}
  tile.contract a(%a : memref<4x8xf32>) b(%b : memref<8x6xf32>) outs(%c : memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// Pairs of terms are read at once.
// expected-note@+1 {{the operand is here}}
func.func @apart(%a: memref<4x8xf32, strided<[1, 4]>>, %b: memref<4x16x2xf32>, %c: memref<4x16xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a group of terms side by side, found 'memref<4x8xf32, strided<[1, 4]>>'}}
  tile.contract a(%a : memref<4x8xf32, strided<[1, 4]>>) b(%b : memref<4x16x2xf32>)
      outs(%c : memref<4x16xf32>) attributes {
    parallel = array<i64: 4, 16>, reduced = array<i64: 4, 2>,
    maps = [affine_map<(m, n, k, j) -> (m, k * 2 + j)>, affine_map<(m, n, k, j) -> (k, n, j)>, affine_map<(m, n) -> (m, n)>],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2 | 3], loop [4, 16 | _, _] order [0, 1], acc vectors>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

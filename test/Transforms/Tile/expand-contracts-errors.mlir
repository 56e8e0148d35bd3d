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

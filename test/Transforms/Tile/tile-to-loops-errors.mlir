// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-tile-to-loops --verify-diagnostics

// Loops read and write memory.
// expected-note @below {{the destination is here}}
func.func @on_tensors(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{'tile.contract' op expected operands in memory, found 'tensor<4x6xf32>'; bufferize first}}
  %y = tile.contract a(%a : tensor<4x8xf32>) b(%b : tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

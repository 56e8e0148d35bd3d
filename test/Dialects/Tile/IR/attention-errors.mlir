// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// Scores and values have the same keys.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{'tile.attention' op expected as many keys as the scores have, 95, found 96}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 95>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// Rows of weights are rows of the result.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected dim 1 of the weights to be a parallel dim of size 64}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#values, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// Each operand has a map.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected a map for weights, values, each operand of the epilogue and the result, 3 in all, found 2}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// So have those of the scores.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected a map for each operand of the scores' factors, 2 in all, found 1}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// A grid cuts no keys without a group.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected a grid to cut parallel dims, or keys in front of a group, and a loop to cut keys}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | 32]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// Tiles are parts.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected tiles of dim 3 to be at most its size, 96, found 97}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 97] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// Workers come first.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected grids, then a loop}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<grid core [1, 16, _ | _]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// There is one loop.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected one loop, found another}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// What a loop divides at its end is no square.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected weights to be rounded and nothing else in a loop over keys}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        // expected-note @below {{computed here}}
        %z = arith.mulf %x, %x : f32
        tile.yield %z : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// A loop takes whole panels.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x6x8x16xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected maps that can be cut into 20 of dim 3 in a loop over keys}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x6x8x16xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #panels],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 20] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#panels = affine_map<(h, q, s, d) -> (h, s floordiv 16, d, s mod 16)>

// A body takes what its operands are.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32, %m: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// Places are known where scores are hidden.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-note @below {{the attention is here}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        // expected-error@+1 {{expected to be where scores are hidden}}
        %i = tile.index 1
        tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// Of the dims that there are.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-note @below {{of this op}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32):
        // expected-error@+1 {{expected a dim below 3, found 3}}
        %i = tile.index 3
        tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// Groups hold what strategies of both products say.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected a loop over keys in front of a group, and strategies of both products with one group and the same fragment}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<group warp [_, 16, _ | _]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// A group comes last.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{expected grids, then a loop, then a group, over 3 parallel dims and 1 of keys, found}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<group warp [_, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// Rows of one dim, and keys where the loop takes them.
func.func @f(%q: tensor<2x64x16xbf16>, %k: tensor<2x96x16xbf16>, %v: tensor<2x96x16xbf16>) -> tensor<2x64x16xbf16> {
  %e = tensor.empty() : tensor<2x64x16xbf16>
  // expected-error@+1 {{expected one dim each on m, n and k of a group's products, the loop's keys on k of the second, found}}
  %y = tile.attention queries(%q : tensor<2x64x16xbf16>) keys(%k : tensor<2x96x16xbf16>)
      values(%v : tensor<2x96x16xbf16>) outs(%e : tensor<2x64x16xbf16>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 16>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place],
        levels = [#tile.level<grid block [1, 32, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<group warp [_, 16, _ | _]>],
        scoresStrategy = #tile.strategy<"mma" m [0, 1] n [2] k [3], loop [1, 32, 32 | 16] order [0, 1, 2, 3], group warp [1, 16, 32 | _],
          a: ring shared at 0 slots 1, b: ring shared at 0 slots 2, acc registers, hints {fragment = #bits}>,
        strategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 16 | 32] order [0, 1, 2, 3], group warp [1, 16, 16 | _],
          b: ring shared at 0 slots 2, acc registers, hints {fragment = #bits}>}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 } -> tensor<2x64x16xbf16>
  return %y : tensor<2x64x16xbf16>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// Parts of keys are whole tiles.
func.func @f(%q: tensor<2x64x16xbf16>, %k: tensor<2x96x16xbf16>, %v: tensor<2x96x16xbf16>) -> tensor<2x64x16xbf16> {
  %e = tensor.empty() : tensor<2x64x16xbf16>
  // expected-error@+1 {{expected parts of whole tiles of 32 keys, found 40}}
  %y = tile.attention queries(%q : tensor<2x64x16xbf16>) keys(%k : tensor<2x96x16xbf16>)
      values(%v : tensor<2x96x16xbf16>) outs(%e : tensor<2x64x16xbf16>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 16>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place],
        levels = [#tile.level<grid block [1, 32, _ | 40]>, #tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<group warp [_, 16, _ | _]>],
        scoresStrategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 32 | 16] order [0, 1, 2, 3], group warp [1, 16, 32 | _],
          a: ring shared at 0 slots 1, b: ring shared at 0 slots 2, acc registers, hints {fragment = #bits}>,
        strategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 16 | 32] order [0, 1, 2, 3], group warp [1, 16, 16 | _],
          b: ring shared at 0 slots 2, acc registers, hints {fragment = #bits}>}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 } -> tensor<2x64x16xbf16>
  return %y : tensor<2x64x16xbf16>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// What parts have needs a place for each.
func.func @f(%q: tensor<2x64x16xbf16>, %k: tensor<2x96x16xbf16>, %v: tensor<2x96x16xbf16>) -> tensor<2x64x16xbf16> {
  %e = tensor.empty() : tensor<2x64x16xbf16>
  // expected-error@+1 {{expected 2 parts of keys to have their sums as they are, and two columns each behind them, in a destination over the parallel dims, found}}
  %y = tile.attention queries(%q : tensor<2x64x16xbf16>) keys(%k : tensor<2x96x16xbf16>)
      values(%v : tensor<2x96x16xbf16>) outs(%e : tensor<2x64x16xbf16>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 16>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place],
        levels = [#tile.level<grid block [1, 32, _ | 64]>, #tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<group warp [_, 16, _ | _]>],
        scoresStrategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 32 | 16] order [0, 1, 2, 3], group warp [1, 16, 32 | _],
          a: ring shared at 0 slots 1, b: ring shared at 0 slots 2, acc registers, hints {fragment = #bits}>,
        strategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 16 | 32] order [0, 1, 2, 3], group warp [1, 16, 16 | _],
          b: ring shared at 0 slots 2, acc registers, hints {fragment = #bits}>}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 } -> tensor<2x64x16xbf16>
  return %y : tensor<2x64x16xbf16>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// What is stored has the type of where it is stored.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x4xf32> {
  // expected-note@+1 {{the destination is here}}
  %e = tensor.empty() : tensor<2x64x8xf32>
  // expected-error@+1 {{'tile.attention' op expected a result of the destination's type, 'tensor<2x64x8xf32>', where that is a tensor, found 'tensor<2x64x4xf32>'}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x4xf32>
  return %y : tensor<2x64x4xf32>
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// A weight is made of a score.
func.func @f(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  %one = arith.constant 1.0 : f32
  // expected-error@+1 {{'tile.attention' op expected bodies over a number that yield one}}
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      // expected-note@+1 {{this one ends here}}
      weigh { tile.yield %one : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics

// An accumulator has dims.
// expected-error@+1 {{expected at least one dim, each of size 1 or more, found 0 dims}}
func.func private @scalar() -> !tile.acc<f32>

// -----

// Each of them holds something.
// expected-error@+1 {{expected at least one dim, each of size 1 or more}}
func.func private @empty() -> !tile.acc<0x4xf32>

// -----

// It holds numbers.
// expected-error@+1 {{expected numbers in an accumulator, found 'index'}}
func.func private @indices() -> !tile.acc<4xindex>

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Sizes are not negative.
func.func @sizes(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected sizes of 0 or more, found -8}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: -8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// There is a dim for lanes to run along.
func.func @parallel(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<f32>) {
  // expected-error@+1 {{'tile.contract' op expected at least one parallel dim}}
  tile.contract a(%a: memref<8xf32>) b(%b: memref<8xf32>) outs(%c: memref<f32>) attributes {
      parallel = array<i64>, reduced = array<i64: 8>,
      maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<() -> ()>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>

// Every operand has a map.
func.func @maps(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a map for a, b, each operand of the epilogue and the result, 3 in all, found 2}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// A map of a is over all dims.
func.func @dims_of_a(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected the map of a over 3 dims and no symbols, found affine_map<(d0, d1) -> (d0, d1)>}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k)[s] -> (k + s, n)>
#c = affine_map<(m, n) -> (m, n)>

// Nothing is symbolic.
func.func @symbols(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected the map of b over 3 dims and no symbols}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n)>
#c = affine_map<(m, n) -> (m, n)>

// A map says where in each dim of its operand.
// expected-note @below {{the operand is here}}
func.func @results_of_b(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected 2 results in the map of b, one per dim of 'memref<8x6xf32>', found affine_map<(d0, d1, d2) -> (d1)>}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The result is stored once per point of the parallel dims.
func.func @dims_of_result(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected the map of the result over 2 dims and no symbols}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// So are the epilogue's operands read; the message says which.
func.func @dims_of_epilogue(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %p: memref<6xf32>,
                            // expected-note @below {{the operand is here}}
                            %q: memref<4xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected 1 results in the map of epilogue operand 1, one per dim of 'memref<4xf32>'}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>)
      epilogue(%p, %q: memref<6xf32>, memref<4xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>,
      maps = [#a, #b, affine_map<(m, n) -> (n)>, #c, #c]} {
  ^bb0(%sum: f32, %x: f32, %y: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// A tensor destination is given back.
func.func @no_result(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a result of the type of a tensor destination, none for a memref}}
  tile.contract a(%a: tensor<4x8xf32>) b(%b: tensor<8x6xf32>) outs(%c: tensor<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m + 1, n)>

// What fills the border is an element of the result.
func.func @pad(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<6x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a pad of type 'f32', found 0 : i32}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<6x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c], pad = 0 : i32} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// A strategy speaks of each dim.
func.func @strategy_sizes(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a strategy over 2 | 1 dims, found #tile.strategy}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"fma" n [0], loop [4] order [0], acc vectors>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Each parallel dim has one loop.
func.func @strategy_order() attributes {
  // expected-error@+1 {{expected each dim at most once in an order, found #tile.level<loop [4, 6 | _] order [1, 1]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [1, 1], acc vectors>} {
  return
}

// -----

func.func @strategy_missing() attributes {
  // expected-error@+1 {{expected a loop over dim 1 in one of the levels, found none}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0], acc vectors>} {
  return
}

// -----

// No accumulator is empty.
func.func @strategy_tile() attributes {
  // expected-error@+1 {{expected what an accumulator holds of dim 1, found #tile.level<loop [4, _ | _] order [0]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, _ | _] order [0], acc vectors>} {
  return
}

// -----

func.func @strategy_negative() attributes {
  // expected-error@+1 {{expected tiles of 1 or more, found #tile.level<loop [4, -6 | _] order [0, 1]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, -6 | _] order [0, 1], acc vectors>} {
  return
}

// -----

func.func @strategy_loop_without_tile() attributes {
  // expected-error@+1 {{expected a tile of dim 2, over which it loops, in #tile.level<loop [4, 6 | _] order [0, 1, 2]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1, 2], acc vectors>} {
  return
}

// -----

func.func @strategy_tile_without_loop() attributes {
  // expected-error@+1 {{expected '_' for dim 2 in front of its loop, found #tile.level<loop [4, 6 | 8] order [0, 1]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 8] order [0, 1], acc vectors promote 0>} {
  return
}

// -----

// Sums of chunks are inside all other loops.
func.func @strategy_terms_outside() attributes {
  // expected-error@+1 {{expected loops over terms inside all others, in the order of their dims, found #tile.level<loop [4, 6 | 8] order [0, 2, 1]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 8] order [0, 2, 1], acc vectors promote 0>} {
  return
}

// -----

func.func @strategy_promote() attributes {
  // expected-error@+1 {{expected sums to be promoted at a level with loops over terms, found 1}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 8] order [0, 1, 2], acc vectors promote 1>} {
  return
}

// -----

func.func @strategy_no_loop() attributes {
  // expected-error@+1 {{expected a loop level in a strategy}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [4, 6 | _], acc vectors>} {
  return
}

// -----

func.func @strategy_grids() attributes {
  // expected-error@+1 {{expected grid levels, then loops, then groups, found #tile.level<grid core [4, 6 | _]> behind another}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], grid core [4, 6 | _], acc vectors>} {
  return
}

// -----

func.func @strategy_split() attributes {
  // expected-error@+1 {{expected 'partials' and their memory, since the grid shares out terms}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [4, 6 | 8], loop [4, 6 | _] order [0, 1], acc vectors>} {
  return
}

// -----

// Levels speak of the same dims.
func.func @strategy_levels() attributes {
  // expected-error@+1 {{expected as many sizes in all levels as in the last, 2 | 1, found #tile.level<grid core [4 | _]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [4 | _], loop [4, 6 | _] order [0, 1], acc vectors>} {
  return
}

// -----

func.func @strategy_unit_dims() attributes {
  // expected-error@+1 {{expected parallel dims on m, n and lanes and reduced ones on k, each once, found dim 0}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [0], loop [4, 6 | _] order [0, 1], acc vectors>} {
  return
}

// -----

func.func @strategy_group() attributes {
  // expected-error@+1 {{expected the last dim as the group of terms}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [3 | 2], loop [4, 6 | _, _] order [0, 1], acc vectors>} {
  return
}

// -----

func.func @strategy_shape() attributes {
  // expected-error@+1 {{expected rows, columns and terms of the unit's product}}
  strategy = #tile.strategy<"fma" shape [16, 16] m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc vectors>} {
  return
}

// -----

func.func @strategy_acc() attributes {
  // expected-error@+1 {{expected 'acc' and the memory of sums}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1]>} {
  return
}

// -----

func.func @strategy_hop() attributes {
  // expected-error@+1 {{expected the number of a loop level in #tile.hop<b: pack l2 at 2>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], b: pack l2 at 2, acc vectors>} {
  return
}

// -----

func.func @strategy_hops() attributes {
  // expected-error@+1 {{expected one hop of a kind but for rings, with slots of 1 to 65536, found #tile.hop<b: pack l1 at 0>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], b: pack l2 at 0, b: pack l1 at 0, acc vectors>} {
  return
}

// -----

func.func @strategy_slots() attributes {
  // expected-error@+1 {{expected one hop of a kind but for rings, with slots of 1 to 65536, found #tile.hop<b: prefetch l2 slots 0>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], b: prefetch l2 slots 0, acc vectors>} {
  return
}

// -----

func.func @strategy_hop_kind() attributes {
  // expected-error@+1 {{expected pack, prefetch or ring, found window}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], b: window l2 at 0, acc vectors>} {
  return
}

// -----

func.func @strategy_stores() attributes {
  // expected-error@+1 {{expected 'stores' to be the name of a copy engine, found 2 : i64}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc vectors, hints {stores = 2 : i64}>} {
  return
}

// -----

func.func @strategy_unroll() attributes {
  // expected-error@+1 {{expected 'unroll' of 1 or more terms, found 0 : i64}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc vectors, hints {unroll = 0 : i64}>} {
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Workers' tiles would overlap.
func.func @strategy_workers(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected the tiles of dim 0 to divide those above, 6, found 4}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [6, _ | _], loop [4, 6 | _] order [0, 1], acc vectors>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// A matrix unit takes groups.
func.func @strategy_matrix(%a: memref<8x8xf32>, %b: memref<8x16xf32>, %c: memref<8x16xf32>) {
  // expected-error@+1 {{'tile.contract' op expected groups of terms, some to a product of the matrix unit, all of them in one sum and none asked for early, found}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x16xf32>) outs(%c: memref<8x16xf32>) attributes {
      parallel = array<i64: 8, 16>, reduced = array<i64: 8>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"matrix" shape [4, 16, 4] m [0] n [1] k [2], loop [4, 16 | _] order [0, 1], acc tiles>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Sums of chunks follow each other as the dims do.
func.func @strategy_terms() attributes {
  // expected-error@+1 {{expected loops over terms inside all others, in the order of their dims, found #tile.level<loop [4, 6 | 4, 2] order [0, 1, 3, 2]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2, 3], loop [4, 6 | 4, 2] order [0, 1, 3, 2], acc vectors promote 0>} {
  return
}

// -----

// Loops cut a dim once.
func.func @strategy_twice() attributes {
  // expected-error@+1 {{expected the tile of dim 1 from above, 12, where no loop cuts it, found #tile.level<loop [4, 6 | _] order [0]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [_, 12 | _] order [1], loop [4, 6 | _] order [0], acc vectors>} {
  return
}

// -----

func.func @strategy_early() attributes {
  // expected-error@+1 {{expected '_' for dim 0 in front of its loop, found #tile.level<loop [4, 6 | _] order [1]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [1], loop [4, 6 | _] order [0], acc vectors>} {
  return
}

// -----

func.func @strategy_pack_a() attributes {
  // expected-error@+1 {{expected b alone to be packed, found #tile.hop<a: pack l2 at 0>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], a: pack l2 at 0, acc vectors>} {
  return
}

// -----

func.func @strategy_prefetch_a() attributes {
  // expected-error@+1 {{expected prefetches of b alone, found #tile.hop<a: prefetch l2 slots 4>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], a: prefetch l2 slots 4, acc vectors>} {
  return
}

// -----

func.func @strategy_ring_and_pack() attributes {
  // expected-error@+1 {{expected b in a ring, or packed or prefetched, not both}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], b: ring near at 0 slots 2, b: pack l2 at 0, acc vectors>} {
  return
}

// -----

// A grid's tile is nobody's to copy.
func.func @strategy_ring_level() attributes {
  // expected-error@+1 {{expected the number of a loop level in #tile.hop<a: ring near at 0 slots 2>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [8, _ | _], loop [4, 6 | _] order [0, 1], a: ring near at 0 slots 2, acc vectors>} {
  return
}

// -----

// The slot would hold rows of a place of the loop inside, in parts of workers
// that are not all as large.
func.func @strategy_ring_outside(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected all loops that a depends on outside of where it is copied, found that over dim 0 inside}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [5, _ | _], loop [_, 6 | _] order [1], loop [1, 6 | _] order [0], a: ring near at 1 slots 2, acc vectors>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Two rows would share one.
func.func @strategy_uneven(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected places that move evenly with each dim, but for columns of b in panels, found affine_map<(d0, d1, d2) -> (d0 floordiv 2, d2)>}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m floordiv 2, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc vectors>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// Nor are terms in panels.
func.func @strategy_uneven_terms(%a: memref<8x8xf32>, %b: memref<2x6x4xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected places that move evenly with each dim, but for columns of b in panels, found affine_map<(d0, d1, d2) -> (d2 floordiv 4, d1, d2 mod 4)>}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<2x6x4xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 4, n, k mod 4)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc vectors>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// expected-note @below {{the operand is here}}
func.func @strategy_ring_layout(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a layout of the 2 dims of a, found #tile.layout<pad [8]>}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], a: ring near at 0 slots 2 #tile.layout<pad [8]>, acc vectors>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

func.func @strategy_packed_chunks() attributes {
  // expected-error@+1 {{expected a level that has all terms in #tile.hop<b: pack l2 at 0>, found #tile.level<loop [4, 6 | 4] order [0, 1, 2]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 4] order [0, 1, 2], b: pack l2 at 0, acc vectors promote 0>} {
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// What is packed has all columns that the loops inside read.
func.func @strategy_packs_outside(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected all loops that b depends on outside of where it is packed, found that over dim 1 inside}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, _ | _] order [0], loop [4, 3 | _] order [1], b: pack l2 at 0, acc vectors>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n floordiv 4, k, n mod 4)>
#c = affine_map<(m, n) -> (m, n)>

// A tile is read from one panel.
// expected-note @below {{b is here}}
func.func @strategy_panels(%a: memref<8x8xf32>, %b: memref<2x8x4xf32>, %c: memref<8x8xf32>) {
  // expected-error@+1 {{'tile.contract' op expected tiles of dim 1 that divide the 4 columns of b's panels, found 3}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<2x8x4xf32>) outs(%c: memref<8x8xf32>) attributes {
      parallel = array<i64: 8, 8>, reduced = array<i64: 8>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 3 | _] order [0, 1], acc vectors>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k, j) -> (m, k * 2 + j)>
#b = affine_map<(m, n, k, j) -> (k * 2 + j, n)>
#c = affine_map<(m, n) -> (m, n)>

// A unit reads the terms of a group side by side.
func.func @strategy_group_apart(%a: memref<8x8xbf16>, %b: memref<8x6xbf16>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected the terms of a group side by side in a, and in b unless it is packed, found}}
  tile.contract a(%a: memref<8x8xbf16>) b(%b: memref<8x6xbf16>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 4, 2>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"dot" m [0] n [1] k [2 | 3], loop [4, 6 | _, _] order [0, 1], acc vectors>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k, j) -> (m, k * 4 + j)>
#b = affine_map<(m, n, k, j) -> (k, n, j)>
#c = affine_map<(m, n) -> (m, n)>

func.func @strategy_group_cut(%a: memref<8x8xi8>, %b: memref<2x6x4xi8>, %c: memref<8x6xi32>) {
  // expected-error@+1 {{'tile.contract' op expected groups of all 4 terms of dim 3, found 2}}
  tile.contract a(%a: memref<8x8xi8>) b(%b: memref<2x6x4xi8>) outs(%c: memref<8x6xi32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 2, 4>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"dot" m [0] n [1] k [2 | 3], loop [4, 6 | _, 2] order [0, 1, 3], acc vectors promote 0>} {
  ^bb0(%sum: i32):
    tile.yield %sum : i32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// The last part would reach beyond the end.
func.func @strategy_chunks(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected parts that divide the 8 terms of dim 2, or a mask, found 3}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [_, _ | 3], loop [4, 6 | 1] order [0, 1, 2], acc vectors promote 1, partials main>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// The body says what type sums have.
func.func @no_argument(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>, %x: f32) {
  // expected-error@+1 {{'tile.contract' op expected a body over the accumulator}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
    tile.yield %x : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// A body sees the sum and an element of each of the epilogue's operands.
func.func @body(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %p: memref<4x6xf16>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a body over 'f32', 'f16', found 'f32'}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>)
      epilogue(%p: memref<4x6xf16>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// It yields what is stored.
func.func @yield(%a: memref<4x8xf16>, %b: memref<8x6xf16>, %c: memref<4x6xf16>) {
  // expected-error@+1 {{'tile.contract' op expected the body to yield 'f16', an element of the result}}
  tile.contract a(%a: memref<4x8xf16>) b(%b: memref<8x6xf16>) outs(%c: memref<4x6xf16>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32 // expected-note {{the body ends here}}
  }
  return
}

// -----

// A yield ends an epilogue and nothing else.
func.func @stray_yield(%x: f32) {
  // expected-error@+1 {{'tile.yield' op expects parent op to be one of 'tile.attention, tile.contract, tile.drain, tile.map, tile.reduce, tile.winograd'}}
  tile.yield %x : f32
}

// -----

// A pack takes each dim of its source once.
func.func @pack_order(%w: tensor<64x32xf32>) -> tensor<4x32x16xf32> {
  // expected-error@+1 {{'tile.pack' op expected each of the source's 2 dims once in columns and order}}
  %p = tile.pack %w columns = 0 order = [0] : tensor<64x32xf32> to tensor<4x32x16xf32>
  return %p : tensor<4x32x16xf32>
}

// -----

// Its result has room for each column and no panel more.
func.func @pack_shape(%w: tensor<65x32xf32>) -> tensor<4x32x16xf32> {
  // expected-error@+1 {{'tile.pack' op expected panels of 'tensor<65x32xf32>' to be of shape 5, 32, 16, found 'tensor<4x32x16xf32>'}}
  %p = tile.pack %w columns = 0 order = [1] : tensor<65x32xf32> to tensor<4x32x16xf32>
  return %p : tensor<4x32x16xf32>
}

// -----

// It changes no element.
func.func @pack_element(%w: tensor<64x32xf32>) -> tensor<4x32x16xf16> {
  // expected-error@+1 {{'tile.pack' op expected panels of 'tensor<64x32xf32>' to be of shape 4, 32, 16, found 'tensor<4x32x16xf16>'}}
  %p = tile.pack %w columns = 0 order = [1] : tensor<64x32xf32> to tensor<4x32x16xf16>
  return %p : tensor<4x32x16xf16>
}

// -----

// An accumulator starts as a value of its own type.
// expected-note @below {{the value is here}}
func.func @init(%x: f64) {
  // expected-error@+1 {{'tile.init' op expected a value of type 'f32', found 'f64'}}
  %acc = tile.init %x : f64 to !tile.acc<4xf32>
  return
}

// -----

// Stacked constants are of one type, and the value has one dim more.
func.func @stack_sources() {
  // expected-error@+1 {{expected sources of one tensor type, all or none of them rounded, found 'tensor<3xf32>' beside 'tensor<4xf32>'}}
  %0 = arith.constant #tile.stacked<dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<3xf32>> : tensor<2x4xf32>
  return
}

// -----

func.func @stack_type() {
  // expected-error@+1 {{2 constants of 'tensor<4xf32>' one behind the other are no 'tensor<8xf32>'}}
  %0 = arith.constant #tile.stacked<dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>> : tensor<8xf32>
  return
}

// -----

// A step has terms.
func.func @step_sizes(%acc: !tile.acc<4xf32>, %a: memref<8xf32>, %b: memref<8x4xf32>) {
  // expected-error@+1 {{'tile.step' op expected reduced sizes and unrolling of 1 or more}}
  %0 = tile.step %acc, %a, %b {reduced = array<i64: 0>, unroll = 1 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<4xf32>, memref<8xf32>, memref<8x4xf32>
  return
}

// -----

// A step's maps are over the accumulator's dims and its own.
func.func @step_map(%acc: !tile.acc<4xf32>, %a: memref<8xf32>, %b: memref<8x4xf32>) {
  // expected-error@+1 {{'tile.step' op expected the map of b over 2 dims and no symbols}}
  %0 = tile.step %acc, %a, %b {reduced = array<i64: 8>, unroll = 1 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(k) -> (k, k)>}
    : !tile.acc<4xf32>, memref<8xf32>, memref<8x4xf32>
  return
}

// -----

// A drain has a map for each operand.
func.func @drain_maps(%acc: !tile.acc<4xf32>, %p: memref<4xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{'tile.drain' op expected a map for each operand of the epilogue and the target, 2 in all, found 1}}
  tile.drain %acc epilogue(%p : memref<4xf32>) to %c : memref<4xf32>
      attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  } : !tile.acc<4xf32>
  return
}

// -----

// Its maps are over the accumulator's dims.
func.func @drain_epilogue_map(%acc: !tile.acc<4xf32>, %p: memref<4xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{'tile.drain' op expected the map of epilogue operand 0 over 1 dims and no symbols}}
  tile.drain %acc epilogue(%p : memref<4xf32>) to %c : memref<4xf32>
      attributes {maps = [affine_map<(m, n) -> (n)>, affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  } : !tile.acc<4xf32>
  return
}

// -----

// That of the target says where in each dim of it.
// expected-note @below {{the operand is here}}
func.func @drain_target_map(%acc: !tile.acc<4xf32>, %c: memref<1x4xf32>) {
  // expected-error@+1 {{'tile.drain' op expected 2 results in the map of the target, one per dim of 'memref<1x4xf32>'}}
  tile.drain %acc to %c : memref<1x4xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<4xf32>
  return
}

// -----

// Its body is over the accumulator's elements.
func.func @drain_body(%acc: !tile.acc<4xf32>, %c: memref<4xf32>) {
  // expected-error@+1 {{'tile.drain' op expected a body over 'f32', found 'f64'}}
  tile.drain %acc to %c : memref<4xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f64):
    %y = arith.truncf %x : f64 to f32
    tile.yield %y : f32
  } : !tile.acc<4xf32>
  return
}

// -----

// A group lies side by side whole.
func.func @pack_group(%w: tensor<7x8xbf16>) -> tensor<1x3x8x2xbf16> {
  // expected-error@+1 {{'tile.pack' op expected a group that divides the last dim of order, found 2}}
  %p = tile.pack %w columns = 1 order = [0] group = 2 : tensor<7x8xbf16> to tensor<1x3x8x2xbf16>
  return %p : tensor<1x3x8x2xbf16>
}

// -----

// Its shape is that of the groups.
func.func @pack_group_shape(%w: tensor<6x8xbf16>) -> tensor<1x6x8x2xbf16> {
  // expected-error@+1 {{'tile.pack' op expected panels of 'tensor<6x8xbf16>' to be of shape 1, 3, 8, 2, found 'tensor<1x6x8x2xbf16>'}}
  %p = tile.pack %w columns = 1 order = [0] group = 2 : tensor<6x8xbf16> to tensor<1x6x8x2xbf16>
  return %p : tensor<1x6x8x2xbf16>
}

// -----

// Factors have whole groups for each lane of the sums.
func.func @dot_lanes(%s: vector<16xf32>, %a: vector<24xbf16>) -> vector<16xf32> {
  // expected-error@+1 {{'tile.dot' op expected factors of the accumulator's kind with a multiple of its lanes, found 'vector<24xbf16>' for 'vector<16xf32>'}}
  %r = tile.dot %s, %a, %a : vector<16xf32>, vector<24xbf16>
  return %r : vector<16xf32>
}

// -----

// And are of its kind.
func.func @dot_kind(%s: vector<16xf32>, %a: vector<64xi8>) -> vector<16xf32> {
  // expected-error@+1 {{'tile.dot' op expected factors of the accumulator's kind}}
  %r = tile.dot %s, %a, %a : vector<16xf32>, vector<64xi8>
  return %r : vector<16xf32>
}

// -----

// A grouped step has a dim that is the group.
func.func @step_group(%acc: !tile.acc<4xf32>, %a: memref<1xf32>, %b: memref<4xf32>) -> !tile.acc<4xf32> {
  // expected-error@+1 {{'tile.step' op expected a reduced dim that is the group, found none}}
  %r = tile.step %acc, %a, %b {reduced = array<i64>, unroll = 1 : i64, grouped,
      aMap = affine_map<(n) -> (0)>, bMap = affine_map<(n) -> (n)>}
    : !tile.acc<4xf32>, memref<1xf32>, memref<4xf32>
  return %r : !tile.acc<4xf32>
}

// -----

// A ring has slots.
// expected-error@+1 {{expected at least one slot, found 0}}
func.func private @no_slots(!tile.ring<0, 4xf32>)

// -----

// And they hold something.
// expected-error@+1 {{expected slots of numbers with at least one dim, each of size 1 or more}}
func.func private @empty_slots(!tile.ring<1, 0xf32>)

// -----

// All dims have a place in the layout.
// expected-error@+1 {{expected a layout of 2 dims, found 1}}
func.func private @layout_dims(!tile.ring<1, 4x8xf32, "shared", #tile.layout<pad [8]>>)

// -----

// expected-error@+1 {{expected each dim once in order, found [0, 0]}}
func.func private @layout_order(!tile.slot<4x8xf32, #tile.layout<order [0, 0]>>)

// -----

// expected-error@+1 {{expected a pad of 0 to 1048576 elements, found [0, -1]}}
func.func private @layout_pad(!tile.slot<4x8xf32, #tile.layout<pad [0, -1]>>)

// -----

// Elements would share places.
// expected-error@+1 {{expected a swizzle of bits, base and shift, the shift no less than the bits, found [3, 0, 2]}}
func.func private @layout_swizzle(!tile.slot<4x8xf32, #tile.layout<swizzle [3, 0, 2]>>)

// -----

// Or lie behind the slot.
// expected-error@+1 {{expected slots of a multiple of the 64 elements that the swizzle exchanges, found 40}}
func.func private @layout_block(!tile.slot<5x8xf32, #tile.layout<swizzle [3, 3, 3]>>)

// -----

// expected-error@+1 {{expected order, pad, block or swizzle, each once, found blocks}}
func.func private @layout_part(!tile.slot<5x8xf32, #tile.layout<blocks [3]>>)

// -----

// expected-note @below {{the slot is here}}
func.func @swizzled_view(%s: !tile.slot<8x8xf32, #tile.layout<swizzle [3, 3, 3]>>) {
  // expected-error@+1 {{'tile.view' op expected a slot without a swizzle}}
  %m = tile.view %s : !tile.slot<8x8xf32, #tile.layout<swizzle [3, 3, 3]>> to memref<8x8xf32>
  return
}

// -----

// expected-note @below {{the slot is here}}
func.func @view_type(%s: !tile.slot<8x8xf32>) {
  // expected-error@+1 {{'tile.view' op expected 'memref<8x8xf32>', found 'memref<8x4xf32>'}}
  %m = tile.view %s : !tile.slot<8x8xf32> to memref<8x4xf32>
  return
}

// -----

// expected-note @below {{the operand is here}}
func.func @offsets(%acc: !tile.acc<4xf32>, %a: memref<1xf32>, %b: !tile.slot<1x4xf32>, %i: index) -> !tile.acc<4xf32> {
  // expected-error@+1 {{'tile.step' op expected offsets in slots alone, one for each dim, found 1 for '!tile.slot<1x4xf32>'}}
  %r = tile.step %acc, %a, %b[%i] {reduced = array<i64: 1>, unroll = 1 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<4xf32>, memref<1xf32>, !tile.slot<1x4xf32>
  return %r : !tile.acc<4xf32>
}

// -----

// What is taken is given back.
func.func @taken(%r: !tile.ring<2, 4xf32>) {
  // expected-error@+1 {{'tile.take' op expected one tile.release of its slot in its block}}
  %s = tile.take %r : !tile.ring<2, 4xf32>
  return
}

// -----

func.func @side_by_side() {
  %y = tile.role "producer" concurrent {
    %x = arith.constant 1.0 : f32
    // expected-error@-2 {{'tile.role' op expected concurrent roles to be joined by rings alone, found results of types 'f32'}}
    // expected-note @below {{handed over here}}
    tile.hand_over %x : f32
  } : f32
  return
}

// -----

func.func @apart() {
  // expected-error@+1 {{'tile.role' op expected concurrent roles behind each other, found other ops between them}}
  tile.role "producer" concurrent {
  }
  %x = arith.constant 1.0 : f32
  tile.role "consumer" concurrent { // expected-note {{the next role is here}}
  }
  return
}

// -----

// Copies convert nothing.
// expected-note @below {{the ring is here}}
func.func @copy_element(%b: memref<4xf16>, %r: !tile.ring<1, 4xf32>) {
  // expected-error@+1 {{'tile.copy' op expected elements of type 'f32', found 'memref<4xf16>'}}
  %s, %t = tile.copy %b to %r {map = affine_map<(n) -> (n)>} : memref<4xf16> to !tile.ring<1, 4xf32>
  tile.wait %t
  tile.release %s : !tile.slot<4xf32>
  return
}

// -----

// Each dim of the source is addressed.
// expected-note @below {{the operand is here}}
func.func @copy_map(%b: memref<1x4xf32>, %r: !tile.ring<1, 4xf32>) {
  // expected-error@+1 {{'tile.copy' op expected 2 results in the map of the source, one per dim of 'memref<1x4xf32>'}}
  %s, %t = tile.copy %b to %r {map = affine_map<(n) -> (n)>} : memref<1x4xf32> to !tile.ring<1, 4xf32>
  tile.wait %t
  tile.release %s : !tile.slot<4xf32>
  return
}

// -----

// Somebody waits for it.
func.func @no_wait(%b: memref<4xf32>, %r: !tile.ring<1, 4xf32>) {
  // expected-error@+1 {{'tile.copy' op expected one tile.wait for its token and one tile.release of its slot in its block}}
  %s, %t = tile.copy %b to %r {map = affine_map<(n) -> (n)>} : memref<4xf32> to !tile.ring<1, 4xf32>
  tile.release %s : !tile.slot<4xf32>
  return
}

// -----

// The slot is given back once.
func.func @two_releases(%b: memref<4xf32>, %r: !tile.ring<1, 4xf32>) {
  // expected-error@+1 {{'tile.copy' op expected one tile.wait for its token and one tile.release of its slot in its block}}
  %s, %t = tile.copy %b to %r {map = affine_map<(n) -> (n)>} : memref<4xf32> to !tile.ring<1, 4xf32>
  tile.wait %t
  tile.release %s : !tile.slot<4xf32>
  tile.release %s : !tile.slot<4xf32>
  return
}

// -----

// Nobody reads what is not there yet.
func.func @too_early(%b: memref<4xf32>, %c: memref<4xf32>, %r: !tile.ring<1, 4xf32>) {
  // expected-error@+1 {{'tile.copy' op expected its slot to be used between tile.wait and tile.release}}
  %s, %t = tile.copy %b to %r {map = affine_map<(n) -> (n)>} : memref<4xf32> to !tile.ring<1, 4xf32>
  %m = tile.view %s : !tile.slot<4xf32> to memref<4xf32>
  // expected-note@+1 {{used here}}
  memref.copy %m, %c : memref<4xf32> to memref<4xf32>
  tile.wait %t
  tile.release %s : !tile.slot<4xf32>
  return
}

// -----

// Nor what is another's already.
func.func @too_late(%b: memref<4xf32>, %c: memref<4xf32>, %r: !tile.ring<1, 4xf32>) {
  // expected-error@+1 {{'tile.copy' op expected its slot to be used between tile.wait and tile.release}}
  %s, %t = tile.copy %b to %r {map = affine_map<(n) -> (n)>} : memref<4xf32> to !tile.ring<1, 4xf32>
  tile.wait %t
  tile.release %s : !tile.slot<4xf32>
  %m = tile.view %s : !tile.slot<4xf32> to memref<4xf32>
  // expected-note@+1 {{used here}}
  memref.copy %m, %c : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @register(%a: 
  // expected-error@+1 {{expected rows and columns of a register, found [16]}}
  !tile.acc<20x24xf32, registers = [16]>) {
  return
}

// -----

func.func @matrix(%a: 
  // expected-error@+1 {{expected rows and columns, found 1 sizes}}
  !tile.matrix<20xf32>) {
  return
}

// -----

func.func @factors(%s: !tile.matrix<16x16xf32>, %a: !tile.matrix<8x32xbf16>, %b: !tile.matrix<16x32xbf16>) {
  // expected-error@+1 {{expected rows of a, and groups of b for columns, as the sums have them, found '!tile.matrix<8x32xbf16>' times '!tile.matrix<16x32xbf16>' for '!tile.matrix<16x16xf32>'}}
  %0 = tile.matrix_multiply %s, %a, %b : !tile.matrix<16x16xf32>, !tile.matrix<8x32xbf16>, !tile.matrix<16x32xbf16>
  return
}

// -----

func.func @ungrouped(%s: !tile.acc<4x4xf32, registers = [2, 2]>, %a: memref<4x8xf32>) {
  // expected-error@+1 {{expected terms in groups, of a dim of them, and none asked for ahead, for a matrix unit}}
  %0 = tile.step %s, %a, %a {reduced = array<i64: 8>, unroll = 4 : i64,
      aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (n, k)>}
    : !tile.acc<4x4xf32, registers = [2, 2]>, memref<4x8xf32>, memref<4x8xf32>
  return
}

// -----

func.func @other() attributes {
  // expected-error@+1 {{expected grid, loop, group, a, b, acc, masked, partials, role or hints, found units}}
  strategy = #tile.strategy<"fma" n [0], loop [1] order [0], units [1]>} {
  return
}

// -----

func.func @same_name() {
  // expected-error@+1 {{expected concurrent roles to have names of their own, found a second 'producer'}}
  tile.role "producer" concurrent {
    tile.hand_over
  }
  tile.role "producer" concurrent { // expected-note {{the other one is here}}
    tile.hand_over
  }
  return
}

// -----

func.func @nested() {
  tile.role "producer" { // expected-note {{the outer role is here}}
    // expected-error@+1 {{expected no role inside a role}}
    tile.role "consumer" {
      tile.hand_over
    }
    tile.hand_over
  }
  return
}

// -----

func.func @handed(%x: f32) {
  // expected-error@+1 {{expected to hand over 'index', found 'f32'}}
  %y = tile.role "producer" {
    tile.hand_over %x : f32 // expected-note {{handed over here}}
  } : index
  return
}

// -----

// A slot that one role hands to another is used there, between the same ops.
func.func @released_before(%b: memref<4xf32>, %c: memref<4xf32>, %r: !tile.ring<2, 4xf32>) {
  %s, %t = tile.role "producer" {
    // expected-error@+1 {{'tile.copy' op expected its slot to be used between tile.wait and tile.release}}
    %slot, %token = tile.copy %b to %r {map = affine_map<(n) -> (n)>} : memref<4xf32> to !tile.ring<2, 4xf32>
    tile.hand_over %slot, %token : !tile.slot<4xf32>, !tile.token
  } : !tile.slot<4xf32>, !tile.token
  tile.role "consumer" {
    tile.wait %t
    tile.release %s : !tile.slot<4xf32>
    %m = tile.view %s : !tile.slot<4xf32> to memref<4xf32>
    // expected-note@+1 {{used here}}
    memref.copy %m, %c : memref<4xf32> to memref<4xf32>
    tile.hand_over
  }
  return
}

// -----

func.func @row_dims(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-note @below {{the contraction is here}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    // expected-error@+1 {{'tile.row_sum' op expected different dims below 2, the parallel ones, found 2}}
    %z = tile.row_sum %sum over [2] : f32
    tile.yield %z : f32
  }
  return
}

// -----

func.func @unrounded(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected unrounded to have the result's shape, and the type that the body rounds from, found 'memref<4x6xf32>'}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<4x6xf32>)
    unrounded(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    // expected-note @below {{the body yields here}}
    tile.yield %sum : f32
  }
  return
}

// -----

func.func @strategy_group_in_front() attributes {
  // expected-error@+1 {{expected grid levels, then loops, then groups, found #tile.level<loop [4, 6 | _] order [0, 1]> behind another}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], group lane [2, 6 | _], loop [4, 6 | _] order [0, 1], acc sums>} {
  return
}

// -----

func.func @strategy_group_order() attributes {
  // expected-error@+1 {{expected loops to have orders alone, found #tile.level<group lane [2, 6 | _] order [0]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], group lane [2, 6 | _] order [0], acc sums>} {
  return
}

// -----

func.func @strategy_group_terms() attributes {
  // expected-error@+1 {{expected groups to share parallel dims, found #tile.level<group lane [2, 6 | 4]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 8] order [0, 1, 2], group lane [2, 6 | 4], acc sums>} {
  return
}

// -----

func.func @strategy_partials() attributes {
  // expected-error@+1 {{expected a grid level that shares out terms, for 'partials', found none}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc sums, partials main>} {
  return
}

// -----

func.func @strategy_masked() attributes {
  // expected-error@+1 {{expected dims below 3 to be masked, each once, found 3}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc sums, masked [3]>} {
  return
}

// -----

func.func @strategy_masked_twice() attributes {
  // expected-error@+1 {{expected dims below 3 to be masked, each once, found 1}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | _] order [0, 1], acc sums, masked [1, 1]>} {
  return
}

// -----

func.func @strategy_rings() attributes {
  // expected-error@+1 {{expected rings of an operand from far to near, found level 0 behind level 1}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [_, 6 | _] order [1], loop [4, 6 | _] order [0], a: ring far at 1 slots 1, a: ring near at 0 slots 1, acc sums>} {
  return
}

// -----

func.func @strategy_pack_in_terms() attributes {
  // expected-error@+1 {{expected a level that has all terms in #tile.hop<b: pack l2 at 1>, found #tile.level<loop [4, 6 | _]>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 4] order [0, 1, 2], loop [4, 6 | _], b: pack l2 at 1, acc sums>} {
  return
}

// -----

func.func @strategy_mask_in_place(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected b in a ring, where dim 1 is masked}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 4 | _] order [0, 1], a: ring near at 0 slots 1, acc sums, masked [1]>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// A box would begin where nothing is.
func.func @strategy_mask_backwards(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a masked dim to move forward in a, terms along dims of their own, found dim 0 in affine_map<(d0, d1, d2) -> (-d0 + 7, d2)>}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (-m + 7, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [3, 6 | _] order [0, 1], a: ring near at 0 slots 1, acc sums, masked [0]>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// What lies beyond the last term belongs to another row.
func.func @strategy_mask_window(%a: memref<15xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a masked dim to move forward in a, terms along dims of their own, found dim 2 in affine_map<(d0, d1, d2) -> (d0 + d2)>}}
  tile.contract a(%a: memref<15xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m + k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 3] order [0, 1, 2], a: ring near at 0 slots 1, b: ring near at 0 slots 1, acc sums, masked [2]>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

func.func @strategy_no_loop(%a: memref<8x8xf32>, %b: memref<8x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tile.contract' op expected a loop over dim 0, or a mask, where its tile does not divide its 8, found 3}}
  tile.contract a(%a: memref<8x8xf32>) b(%b: memref<8x6xf32>) outs(%c: memref<8x6xf32>) attributes {
      parallel = array<i64: 8, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [3, _ | _], loop [3, 6 | _] order [1], acc sums>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

// expected-error@+1 {{expected groups with a part of 1 or more for each of 2 dims, found #tile.level<group lane [4]>}}
func.func @acc_groups(%acc: !tile.acc<8x4xf32, groups = [group lane [4]]>) {
  return
}

// -----

// expected-note @below {{the memory is here}}
func.func @load_type(%m: memref<8x4xf32>) {
  // expected-error@+1 {{expected elements of type 'f64', found 'memref<8x4xf32>'}}
  %acc = tile.load %m {map = affine_map<(m, n) -> (m, n)>} : memref<8x4xf32> to !tile.acc<8x4xf64>
  return
}

// -----

// expected-note @below {{the operand is here}}
func.func @copy_offsets(%m: memref<8x4xf32>, %i: index) {
  %ring = tile.alloc : !tile.ring<1, 8x4xf32>
  // expected-error@+1 {{expected offsets in slots alone, one for each dim, found 2 for 'memref<8x4xf32>'}}
  %s, %t = tile.copy %m[%i, %i] to %ring {map = affine_map<(m, n) -> (m, n)>} : memref<8x4xf32> to !tile.ring<1, 8x4xf32>
  tile.wait %t
  tile.release %s : !tile.slot<8x4xf32>
  return
}

// -----

// expected-error@+1 {{expected a last dim of whole blocks of 3 elements, found 8}}
func.func private @layout_blocks(!tile.slot<5x8xf32, #tile.layout<block 3>>)

// -----

// expected-error@+1 {{expected blocks of 1 element or more, without order and pad, found 4}}
func.func private @layout_block_pad(!tile.slot<5x8xf32, #tile.layout<pad [0, 1], block 4>>)

// -----

// expected-error@+1 {{expected powers of two, each once, along rows or columns, found [0, 1, 8, 1]}}
func.func private @fragment_step(!tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 1], lanes [0, 2]>>)

// -----

// expected-error@+1 {{expected powers of two, each once, along rows or columns, found [0, 2, 0, 1]}}
func.func private @fragment_twice(!tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1], lanes [0, 2, 0, 1]>>)

// -----

// expected-error@+1 {{expected a rectangle that values and lanes cover, found a gap}}
func.func private @fragment_gap(!tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1], lanes [0, 4, 1, 0]>>)

// -----

// expected-error@+1 {{expected parts of whole fragments of 2x4, found 3x8}}
func.func private @fragment_part(!tile.acc<3x8xf32, fragment = #tile.fragment<registers [0, 1], lanes [0, 2, 1, 0]>>)

// -----

func.func @strategy_roles() attributes {
  // expected-error@+1 {{expected the roles 'producer' and 'consumer', in this order, or none}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 8] order [0, 1, 2], a: ring near at 0 slots 2 by tma, b: ring near at 0 slots 2 by tma, acc vectors, role consumer warp x 1, role producer warp x 1>} {
  return
}

// -----

func.func @strategy_role_rings() attributes {
  // expected-error@+1 {{expected one ring of each operand, for roles}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 8] order [0, 1, 2], a: ring near at 0 slots 2 by tma, acc vectors, role producer warp x 1, role consumer warp x 1>} {
  return
}

// -----

func.func @strategy_role_slots() attributes {
  // expected-error@+1 {{expected rings of two slots and more that an engine fills, for roles, found #tile.hop<b: ring near at 0 slots 1 by tma>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 6 | 8] order [0, 1, 2], a: ring near at 0 slots 2 by tma, b: ring near at 0 slots 1 by tma, acc vectors, role producer warp x 1, role consumer warp x 1>} {
  return
}

// -----

func.func @team() attributes {
  // expected-error@+1 {{expected a role, a scope and how many of it, 1 or more}}
  team = #tile.team<producer warp x 0>} {
  return
}

// -----

// Values of a thread differ; lanes may hold the same.
// expected-error@+1 {{expected powers of two, each once, along rows or columns, found [0, 0]}}
func.func private @fragment_copies(!tile.acc<4x1xf32, fragment = #tile.fragment<registers [0, 0], lanes [1, 0, 2, 0]>>)

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#f = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// What is held of a has the rows of the sums.
// expected-note @below {{a is here}}
func.func @held_rows(%acc: !tile.acc<16x8xf32, fragment = #f>, %a: !tile.acc<32x16xbf16, fragment = #f>, %b: memref<16x8xbf16>) {
  // expected-error@+1 {{expected an accumulator of the sums' rows and of the terms, with the sums' fragment and groups, as a, found}}
  %0 = tile.step %acc, %a, %b {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64}
    : !tile.acc<16x8xf32, fragment = #f>, !tile.acc<32x16xbf16, fragment = #f>, memref<16x8xbf16>
  return
}

// -----

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#f = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// And lies as it is.
// expected-note @below {{a is here}}
func.func @held_map(%acc: !tile.acc<16x8xf32, fragment = #f>, %a: !tile.acc<16x16xbf16, fragment = #f>, %b: memref<16x8xbf16>) {
  // expected-error@+1 {{expected an accumulator of the sums' rows and of the terms, with the sums' fragment and groups, as a, found}}
  %0 = tile.step %acc, %a, %b {aMap = #km, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64}
    : !tile.acc<16x8xf32, fragment = #f>, !tile.acc<16x16xbf16, fragment = #f>, memref<16x8xbf16>
  return
}

// -----

func.func @strategy_sharing() attributes {
  // expected-error@+1 {{expected a ring that an engine fills, and a grid level in another one, for a copy that several share, found #tile.hop<b: ring near at 1 slots 2 by tma multicast>}}
  strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid block [4, 6 | _], loop [4, 6 | 8] order [2], b: ring near at 1 slots 2 by tma multicast, acc sums>} {
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @sharing_other(%a: memref<16x32xf32>, %b: memref<32x8xf32>, %c: memref<16x8xf32>) {
  // expected-error@+1 {{expected parts of the last grid level that read the same of a, as many in each of the level above and as often, found those along dim 0}}
  tile.contract a(%a : memref<16x32xf32>) b(%b : memref<32x8xf32>) outs(%c : memref<16x8xf32>) attributes {
    parallel = array<i64: 16, 8>, reduced = array<i64: 32>, maps = [#mk, #kn, #mn],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid cluster [8, 8 | _], grid block [4, 8 | _], loop [4, 8 | 8] order [2],
      a: ring near at 2 slots 2 by tma multicast, b: ring near at 2 slots 2 by tma, acc sums>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// The second one of the last cluster is behind the end.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @sharing_odd(%a: memref<12x32xf32>, %b: memref<32x8xf32>, %c: memref<12x8xf32>) {
  // expected-error@+1 {{expected parts of the last grid level that read the same of b, as many in each of the level above and as often, found those along dim 0}}
  tile.contract a(%a : memref<12x32xf32>) b(%b : memref<32x8xf32>) outs(%c : memref<12x8xf32>) attributes {
    parallel = array<i64: 12, 8>, reduced = array<i64: 32>, maps = [#mk, #kn, #mn],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid cluster [8, 8 | _], grid block [4, 8 | _], loop [4, 8 | 8] order [2],
      a: ring near at 2 slots 2 by tma, b: ring near at 2 slots 2 by tma multicast, acc sums>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Whoever has more of the loop over rows would copy more often.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @sharing_walked(%a: memref<16x32xf32>, %b: memref<32x8xf32>, %c: memref<16x8xf32>) {
  // expected-error@+1 {{expected parts of the last grid level that read the same of b, as many in each of the level above and as often, found those along dim 0}}
  tile.contract a(%a : memref<16x32xf32>) b(%b : memref<32x8xf32>) outs(%c : memref<16x8xf32>) attributes {
    parallel = array<i64: 16, 8>, reduced = array<i64: 32>, maps = [#mk, #kn, #mn],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid cluster [8, 8 | _], grid block [4, 8 | _], loop [2, 8 | 8] order [0, 2],
      a: ring near at 2 slots 2 by tma, b: ring near at 2 slots 2 by tma multicast, acc sums>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @sharing_one(%a: memref<16x32xf32>, %b: memref<32x8xf32>, %c: memref<16x8xf32>) {
  // expected-error@+1 {{expected several parts of the last grid level to share copies of b, found one}}
  tile.contract a(%a : memref<16x32xf32>) b(%b : memref<32x8xf32>) outs(%c : memref<16x8xf32>) attributes {
    parallel = array<i64: 16, 8>, reduced = array<i64: 32>, maps = [#mk, #kn, #mn],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid cluster [8, 8 | _], grid block [8, 8 | _], loop [8, 8 | 8] order [2],
      a: ring near at 2 slots 2 by tma, b: ring near at 2 slots 2 by tma multicast, acc sums>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// Integers are not added up as floats.
func.func @kinds(%a: memref<4x8xf32>, %c: memref<4x6xf32>) {
  // expected-note @below {{the factor is here}}
  %b = memref.alloc() : memref<8x6xi8>
  // expected-error @below {{'tile.contract' op expected factors of the sums' kind, 'f32', found 'memref<8x6xi8>'}}
  tile.contract a(%a: memref<4x8xf32>) b(%b: memref<8x6xi8>) outs(%c: memref<4x6xf32>) attributes {
      parallel = array<i64: 4, 6>, reduced = array<i64: 8>, maps = [#a, #b, #c]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Boxes reach a place beyond the results on each side.
// expected-note @below {{the input is here}}
func.func @margins(%a: tensor<1x64x64x64xf32>, %b: tensor<4x36x64x16xf32>, %c: tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32> {
  // expected-error @below {{expected an input of 1x66x66 and its channels, found 'tensor<1x64x64x64xf32>'}}
  %y = tile.winograd a(%a : tensor<1x64x64x64xf32>) b(%b : tensor<4x36x64x16xf32>) outs(%c : tensor<1x64x64x64xf32>) attributes {
      estimatedError = 3.5e-6 : f64, maps = [affine_map<(n, h, w, o) -> (n, h, w, o)>], outputSize = 4 : i64,
      parallel = array<i64: 1, 64, 64, 64>, perWorker = array<i64: 8, 0>, strategy = #tile.strategy<"fma" m [1] n [2] k [3], loop [1, 4, 16 | 64] order [0, 1, 2, 3], acc vectors promote 0>} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<1x64x64x64xf32>
  return %y : tensor<1x64x64x64xf32>
}

// -----

// There are weights for each place of a box.
// expected-note @below {{the weights are here}}
func.func @places(%a: tensor<1x66x66x64xf32>, %b: tensor<4x16x64x16xf32>, %c: tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32> {
  // expected-error @below {{expected weights for 36 places, 64 channels and 64 columns in panels, found 'tensor<4x16x64x16xf32>'}}
  %y = tile.winograd a(%a : tensor<1x66x66x64xf32>) b(%b : tensor<4x16x64x16xf32>) outs(%c : tensor<1x64x64x64xf32>) attributes {
      estimatedError = 3.5e-6 : f64, maps = [affine_map<(n, h, w, o) -> (n, h, w, o)>], outputSize = 4 : i64,
      parallel = array<i64: 1, 64, 64, 64>, perWorker = array<i64: 8, 0>, strategy = #tile.strategy<"fma" m [1] n [2] k [3], loop [1, 4, 16 | 64] order [0, 1, 2, 3], acc vectors promote 0>} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<1x64x64x64xf32>
  return %y : tensor<1x64x64x64xf32>
}

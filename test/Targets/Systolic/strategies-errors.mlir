// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics \
// RUN:   --ashlar-lower-to-systolic=machine=tpu-128

// A strategy of another machine.
func.func @unit(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: expected the unit 'array', 'array-sums' or 'vector-unit', found 'fma'}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// The vector unit takes a single row.
func.func @rows(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: the unit 'vector-unit' does not compute it}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"vector-unit" m [0] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Rows of the unit are those of one factor.
func.func @sides(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: its unit's rows cannot be dims []}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Results stand side by side where their number is a multiple.
func.func @beside(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: 5 of its results cannot stand side by side}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator, hints {beside = 5 : i64}>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// There are two halves.
func.func @half(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: expected tiles of 1 row and fold or more, steps of 1 cycle or more, and the half 0 or 1, found {half = 2 : i64}}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator, hints {half = 2 : i64}>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

func.func @half_below(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: expected tiles of 1 row and fold or more, steps of 1 cycle or more, and the half 0 or 1, found {half = -7 : i64}}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator, hints {half = -7 : i64}>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// A step takes time.
func.func @steps(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: expected tiles of 1 row and fold or more, steps of 1 cycle or more, and the half 0 or 1, found {step_cycles = 0 : i64}}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator, hints {step_cycles = 0 : i64}>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Nothing lies between contractions where there is one.
func.func @kept(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: its strategy keeps 16 rows on chip, its kernel has values of 0}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, 128 | _] order [0, 1], acc accumulator, hints {kept_rows = 16 : i64}>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// What does not fit the chip.
func.func @large(%a: memref<65536x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<65536x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: its tiles do not fit on chip}}
  tile.contract a(%a : memref<65536x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<65536x256xf32>) attributes {
      parallel = array<i64: 65536, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [65536, 128 | _] order [0, 1], acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// Columns of a block are the array's.
func.func @columns(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: expected tiles of 128 columns, as many as the array has}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, 64 | _] order [0, 1], acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// A fold has as many terms as the array has rows.
func.func @terms(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: expected tiles of terms that are whole folds, in the order of folds}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, 128 | 64] order [0, 1, 2], acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// What a step reads is brought for it.
func.func @rings(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: its rings are filled for more than one step}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [64, _ | _] order [0], loop [32, 128 | _] order [0, 1], a: ring scratchpad at 0 slots 2 by load, acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// One array computes it all.
func.func @grid(%a: memref<64x128xbf16>, %b: memref<128x256xbf16>,
            %c: memref<64x256xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: its loops have a 'scf.forall', which no stream does}}
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<64x256xf32>) attributes {
      parallel = array<i64: 64, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], grid core [32, _ | _], loop [32, 128 | _] order [0, 1], acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

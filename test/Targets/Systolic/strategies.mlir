// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   --ashlar-verify-streams=machine=tpu-128 | FileCheck %s

// A stream is written as its strategy says, whoever has set it: sums stay, in
// chunks of 128 rows, and their terms come in two tiles.
// CHECK-LABEL: func.func @sums
// CHECK: contraction {{[0-9]+}} output_stationary
// CHECK: systolic.mvin 0, %arg0[131584] to scratchpad{{.*}} 128 x 256
// CHECK: systolic.mvout accumulator[0] wide 128 x 128 to %arg2[0]
// CHECK: systolic.mvout accumulator{{.*}} wide 128 x 128 to %arg2[65536]
func.func @sums(%a: memref<256x512xbf16>, %b: memref<512x128xbf16>,
                %c: memref<256x128xf32>) {
  tile.contract a(%a : memref<256x512xbf16>) b(%b : memref<512x128xbf16>)
    outs(%c : memref<256x128xf32>) attributes {
      parallel = array<i64: 256, 128>, reduced = array<i64: 512>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array-sums" m [0] n [1] k [2], loop [128, 128 | 256] order [0, 1, 2], acc accumulator, hints {step_cycles = 600 : i64}>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// Its loops say in which order: all rows of a block of columns come before the
// next block.
// CHECK-LABEL: func.func @columns
// CHECK: systolic.mvout accumulator{{.*}} 128 x 128 to %arg2[0]
// CHECK: systolic.mvout accumulator{{.*}} 128 x 128 to %arg2[131072]
// CHECK: systolic.mvout accumulator{{.*}} 128 x 128 to %arg2[512]
func.func @columns(%a: memref<256x128xbf16>, %b: memref<128x256xbf16>,
                   %c: memref<256x256xf32>) {
  tile.contract a(%a : memref<256x128xbf16>) b(%b : memref<128x256xbf16>)
    outs(%c : memref<256x256xf32>) attributes {
      parallel = array<i64: 256, 256>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [128, 128 | _] order [1, 0], a: ring scratchpad at 0 slots 2 by load, b: ring scratchpad at 0 slots 2 by load, acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// Tiles are those of its loops: the last one has the rest.
// CHECK-LABEL: func.func @rest
// CHECK: systolic.mvout accumulator{{.*}} 96 x 128 to %arg2[0]
// CHECK: systolic.mvout accumulator{{.*}} 96 x 128 to %arg2[49152]
// CHECK: systolic.mvout accumulator{{.*}} 8 x 128 to %arg2[98304]
func.func @rest(%a: memref<200x128xbf16>, %b: memref<128x128xbf16>,
                %c: memref<200x128xf32>) {
  tile.contract a(%a : memref<200x128xbf16>) b(%b : memref<128x128xbf16>)
    outs(%c : memref<200x128xf32>) attributes {
      parallel = array<i64: 200, 128>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>],
      strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [96, 128 | _] order [0, 1], a: ring scratchpad at 0 slots 2 by load, b: ring scratchpad at 0 slots 2 by load, acc accumulator>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   --ashlar-verify-streams=machine=tpu-128 | FileCheck %s

// Two contractions in one stream, each with a region and a half of both
// memories of its own: the weights of the second come while the first one
// still computes, and its rows once they have been stored: they do not begin
// with a block of columns, so that they cannot be read where they are on chip.
// CHECK-LABEL: func.func @successive
// CHECK: systolic.region "first" contraction 134217728
// CHECK: systolic.region "second" contraction 62914560
// CHECK: systolic.mvin 1, %arg2[0] to scratchpad
// CHECK: systolic.region "first"
// CHECK: systolic.mvout {{.*}} to %arg4
// CHECK: systolic.sync [store] before [load]
// CHECK: systolic.region "second"
// CHECK: systolic.mvin 0, %arg4
// CHECK: systolic.sync [load] before [execute]
// CHECK: systolic.mvout {{.*}} to %arg3
func.func @successive(%a: memref<128x512xbf16>, %b: memref<512x2048xbf16>,
                      %c: memref<1920x256xbf16>, %d: memref<128x256xbf16>,
                      %between: memref<524288xi8>) {
  %zero = arith.constant 0 : index
  %middle = memref.view %between[%zero][] : memref<524288xi8> to memref<128x2048xbf16>
  tile.contract a(%a : memref<128x512xbf16>) b(%b : memref<512x2048xbf16>)
    outs(%middle : memref<128x2048xbf16>) attributes {
      parallel = array<i64: 128, 2048>, reduced = array<i64: 512>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  } loc("first")
  tile.contract a(%middle : memref<128x2048xbf16>) b(%c : memref<1920x256xbf16>)
    outs(%d : memref<128x256xbf16>) attributes {
      parallel = array<i64: 128, 256>, reduced = array<i64: 1920>,
      maps = [affine_map<(m, n, k) -> (m, k + 64)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  } loc("second")
  return
}

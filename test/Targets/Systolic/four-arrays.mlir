// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-v5e \
// RUN:   --ashlar-verify-streams=machine=tpu-v5e | FileCheck %s

// Four arrays go through few terms so fast that the summand's rows fill the
// accumulator before a step is long enough: the next one waits until some have
// left.
// CHECK-LABEL: func.func @summand
// CHECK: systolic.mvin 2, %arg2[0] to accumulator
// CHECK: systolic.mvout accumulator{{.*}} to %arg3
func.func @summand(%a: memref<3136x64xbf16>, %b: memref<64x256xbf16>,
                   %s: memref<3136x256xf32>, %c: memref<3136x256xbf16>) {
  tile.contract a(%a : memref<3136x64xbf16>) b(%b : memref<64x256xbf16>)
    epilogue(%s : memref<3136x256xf32>) outs(%c : memref<3136x256xbf16>)
    attributes {
      parallel = array<i64: 3136, 256>, reduced = array<i64: 64>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32, %x: f32):
    %y = arith.addf %sum, %x : f32
    %z = arith.truncf %y : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

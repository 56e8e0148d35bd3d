// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   --ashlar-verify-streams=machine=tpu-128 | FileCheck %s

// A row lies in several blocks, which stay in the accumulator until all are
// there: the first block's maximum is a column, the others' come to it. The
// result is stored twice, rounded and as it is.
// CHECK-LABEL: func.func @softmax
// CHECK: systolic.vector row_maximum accumulator[0] 128 x
// CHECK-COUNT-2: systolic.vector row_maximum accumulator[0] add
// CHECK: systolic.vector subtract {{.*}}
// CHECK: systolic.vector exp
// CHECK: systolic.vector row_sum
// CHECK: systolic.vector reciprocal
// CHECK: systolic.vector multiply
// CHECK: systolic.mvout {{.*}} to %arg2
// CHECK: systolic.mvout {{.*}} to %arg3
func.func @softmax(%a: memref<200x256xbf16>, %b: memref<256x300xbf16>,
                   %c: memref<200x300xbf16>, %d: memref<200x300xf32>) {
  tile.contract a(%a : memref<200x256xbf16>) b(%b : memref<256x300xbf16>)
    outs(%c : memref<200x300xbf16>) unrounded(%d : memref<200x300xf32>)
    attributes {
      device = 1 : i64,
      parallel = array<i64: 200, 300>, reduced = array<i64: 256>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %most = tile.row_maximum %sum over [1] : f32
    %shifted = arith.subf %sum, %most : f32
    %power = math.exp %shifted : f32
    %all = tile.row_sum %power over [1] : f32
    %part = arith.divf %power, %all : f32
    %z = arith.truncf %part : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

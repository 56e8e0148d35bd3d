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

// A norm that stays on chip: the next contraction begins with the first block
// of its columns, while the vector unit is at work on the others.
// CHECK-LABEL: func.func @norm
// CHECK: systolic.region "norm"
// CHECK: systolic.vector reciprocal_root
// CHECK: systolic.vector multiply scratchpad
// CHECK: systolic.sync [vector] before [execute]
// CHECK: systolic.region "product"
// CHECK: systolic.compute
// CHECK: systolic.region "norm"
// CHECK: systolic.vector multiply scratchpad
// CHECK: systolic.sync [vector] before [execute]
// CHECK: systolic.compute
// CHECK: systolic.mvout {{.*}} to %arg3
func.func @norm(%a: memref<128x512xbf16>, %b: memref<512x256xbf16>,
                %c: memref<256x256xbf16>, %d: memref<128x256xbf16>,
                %between: memref<65536xi8> {exec.inner}) {
  %zero = arith.constant 0 : index
  %middle = memref.view %between[%zero][] : memref<65536xi8> to memref<128x256xbf16>
  tile.contract a(%a : memref<128x512xbf16>) b(%b : memref<512x256xbf16>)
    outs(%middle : memref<128x256xbf16>) attributes {
      device = 1 : i64,
      parallel = array<i64: 128, 256>, reduced = array<i64: 512>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %square = arith.mulf %sum, %sum : f32
    %all = tile.row_sum %square over [1] : f32
    %one = arith.constant 1.0 : f32
    %more = arith.addf %all, %one : f32
    %root = math.sqrt %more : f32
    %factor = arith.divf %one, %root : f32
    %normal = arith.mulf %sum, %factor : f32
    %z = arith.truncf %normal : f32 to bf16
    tile.yield %z : bf16
  } loc("norm")
  tile.contract a(%middle : memref<128x256xbf16>) b(%c : memref<256x256xbf16>)
    outs(%d : memref<128x256xbf16>) attributes {
      device = 1 : i64,
      parallel = array<i64: 128, 256>, reduced = array<i64: 256>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  } loc("product")
  return
}

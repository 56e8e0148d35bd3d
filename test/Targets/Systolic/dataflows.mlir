// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   --ashlar-verify-streams=machine=tpu-128 | FileCheck %s

// A few more terms than the array has rows: the sums stay, and all 160 terms go
// by in two products that begin them and add to them; the second one lets them
// out.
// CHECK-LABEL: func.func @outputs
// CHECK: systolic.region {{.*}} contraction {{[0-9]+}} output_stationary
// CHECK: systolic.config_execute {{.*}}outputStationary
// CHECK: systolic.preload none 0 x 0 into none 0 x 0
// CHECK-NEXT: systolic.compute scratchpad{{.*}} 128 x 128, scratchpad{{.*}} 128 x 48
// CHECK: systolic.preload none 0 x 0 into accumulator{{.*}} 128 x 48
// CHECK-NEXT: systolic.compute {{.*}} 128 x 32, scratchpad{{.*}} 32 x 48 {again}
func.func @outputs(%a: memref<1021x160xbf16>, %b: memref<160x48xbf16>,
                   %c: memref<1021x48xbf16>) {
  tile.contract a(%a : memref<1021x160xbf16>) b(%b : memref<160x48xbf16>)
    outs(%c : memref<1021x48xbf16>) attributes {
      parallel = array<i64: 1021, 48>, reduced = array<i64: 160>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// Weights and results lie by columns of the model's product: what is stationary
// is its inputs, and the rows of weights go over them.
// CHECK-LABEL: func.func @inputs
// CHECK: systolic.region {{.*}} contraction {{[0-9]+}} input_stationary
// CHECK: systolic.mvin 0, %arg1[0] to scratchpad[0]
// CHECK: systolic.mvin 1, %arg0[0] to scratchpad
// CHECK: systolic.preload scratchpad{{.*}} 128 x 40 into accumulator{{.*}} 200 x 40
// CHECK: systolic.mvout accumulator{{.*}} 200 x 40 to %arg2
func.func @inputs(%a: memref<128x40xbf16>, %b: memref<400x128xbf16>,
                  %c: memref<400x40xbf16>) {
  tile.contract a(%a : memref<128x40xbf16>) b(%b : memref<400x128xbf16>)
    outs(%c : memref<400x40xbf16>) attributes {
      parallel = array<i64: 40, 400>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (k, m)>,
              affine_map<(m, n, k) -> (n, k)>,
              affine_map<(m, n) -> (n, m)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// 24 terms and 144 columns: five results stand side by side, 720 columns of 120
// terms that are a diagonal of five blocks, zeros around them.
// CHECK-LABEL: func.func @diagonal
// CHECK: systolic.mvin 1 to scratchpad{{.*}} 120 x 128
// CHECK: systolic.mvin 1, %arg1[0] to scratchpad{{.*}} 24 x 128
// CHECK: systolic.{{preload|compute}}{{.*}} 120 x 128
func.func @diagonal(%a: memref<3135x24xbf16>, %b: memref<24x144xbf16>,
                    %c: memref<3135x144xbf16>) {
  tile.contract a(%a : memref<3135x24xbf16>) b(%b : memref<24x144xbf16>)
    outs(%c : memref<3135x144xbf16>) attributes {
      parallel = array<i64: 3135, 144>, reduced = array<i64: 24>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// A row of results has no use for an array, which takes a row of weights a
// cycle: the vector unit takes eight, and adds its eight rows of sums up.
// CHECK-LABEL: func.func @row
// CHECK-NOT: systolic.compute
// CHECK: systolic.vector multiply accumulator{{.*}} 8 x 128 of scratchpad
// CHECK: systolic.vector multiply accumulator{{.*}} 504 x 128 of scratchpad
// CHECK: systolic.vector add accumulator{{.*}} 4 x 128
// CHECK: systolic.vector add accumulator{{.*}} 2 x 128
// CHECK: systolic.vector add accumulator{{.*}} 1 x 128
// CHECK: systolic.mvout
func.func @row(%a: memref<1x512xbf16>, %b: memref<512x1024xbf16>,
               %c: memref<1x1024xf32>) {
  tile.contract a(%a : memref<1x512xbf16>) b(%b : memref<512x1024xbf16>)
    outs(%c : memref<1x1024xf32>) attributes {
      parallel = array<i64: 1, 1024>, reduced = array<i64: 512>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

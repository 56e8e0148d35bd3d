// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-choose-dataflows=machine=tpu-128 > %t.chosen
// RUN: FileCheck %s < %t.chosen
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-128 > %t.stream
// RUN: ashlar-opt %t.chosen --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   | diff %t.stream -
// RUN: ashlar-opt %t.chosen --ashlar-expand-contracts \
// RUN:   | FileCheck %s --check-prefix=LOOPS
// RUN: ashlar-opt %t.chosen -o /dev/null \
// RUN:   --ashlar-interpret-kernels="through=ashlar-expand-contracts schedules=2" \
// RUN:   2>&1 | FileCheck %s --check-prefix=RIGHT

// Its loops compute what the contraction says, of sizes that are worth it.
// RIGHT: 'inputs__through' interpreted under 2 schedules: largest difference
// RIGHT: 'row__through' interpreted under 2 schedules: largest difference
// RIGHT: 'depthwise__through' interpreted under 2 schedules: largest difference

// Contractions that are one stream have halves of both memories in turn. The
// second one reads no ring of a where that stays on chip.
// RUN: ashlar-opt %S/values-on-chip.mlir --mlir-print-debuginfo \
// RUN:   --ashlar-choose-dataflows=machine=tpu-128 > %t.kept
// RUN: FileCheck %s --check-prefix=KEPT < %t.kept
// RUN: ashlar-opt %S/values-on-chip.mlir \
// RUN:   --ashlar-lower-to-systolic=machine=tpu-128 > %t.stream
// RUN: ashlar-opt %t.kept --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   | diff %t.stream -
// KEPT-LABEL: func.func @between
// KEPT: a: ring scratchpad {{.*}} hints {half = 0 : i64, kept_rows = [[ROWS:[0-9]+]] : i64
// KEPT-NOT: a: ring
// KEPT: hints {half = 1 : i64, kept_rows = [[ROWS]] : i64

// What is chosen is a strategy; a stream by it is the stream of the search. The
// shared expansion writes its loops: all rows in one chunk, a block of columns
// after the other, both factors through rings of the scratchpad.
// CHECK-LABEL: func.func @product
// CHECK: strategy = #tile.strategy<"array" m [0] n [1] k [2], loop [512, 128 | _] order [0, 1], a: ring scratchpad at 0 slots 2 by load, b: ring scratchpad at 0 slots 2 by load, acc accumulator, hints {step_cycles = 2400 : i64}>
// LOOPS-LABEL: func.func @product
// LOOPS: %[[B:.*]] = tile.alloc : <2, 768x128xbf16, "scratchpad">
// LOOPS: %[[A:.*]] = tile.alloc : <2, 512x768xbf16, "scratchpad">
// LOOPS: %[[SLOT:.*]], %{{.*}} = tile.copy {{.*}} to %[[A]] {engine = "load"
// LOOPS: scf.for
// LOOPS: %[[OTHER:.*]], %{{.*}} = tile.copy {{.*}} to %[[B]] {engine = "load"
// LOOPS: tile.step %{{.*}}, %[[SLOT]], %[[OTHER]]
// LOOPS: tile.drain
// LOOPS: tile.release %[[OTHER]]
// LOOPS: tile.release %[[SLOT]]
func.func @product(%a: memref<512x768xbf16>, %b: memref<768x768xbf16>,
                   %c: memref<512x768xbf16>) {
  tile.contract a(%a : memref<512x768xbf16>) b(%b : memref<768x768xbf16>)
    outs(%c : memref<512x768xbf16>) attributes {
      parallel = array<i64: 512, 768>, reduced = array<i64: 768>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// A convolution whose taps are read where the image lies: a box of whole rows.
// CHECK-LABEL: func.func @window
// CHECK: strategy = #tile.strategy<"array" m [0, 1, 2] n [3] k [4, 5, 6], loop [1, {{[0-9]+}}, 28, 128 | _, _, _] order [0, 1, 2, 3], a: ring scratchpad
func.func @window(%a: memref<1x30x30x128xbf16>, %b: memref<3x3x128x128xbf16>,
                  %c: memref<1x28x28x128xbf16>) {
  tile.contract a(%a : memref<1x30x30x128xbf16>)
    b(%b : memref<3x3x128x128xbf16>)
    outs(%c : memref<1x28x28x128xbf16>) attributes {
      parallel = array<i64: 1, 28, 28, 128>, reduced = array<i64: 3, 3, 128>,
      maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>,
              affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>,
              affine_map<(n, h, w, o) -> (n, h, w, o)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// Factors change places: the unit's rows are the columns of the result.
// CHECK-LABEL: func.func @inputs
// CHECK: strategy = #tile.strategy<"array" m [1] n [0] k [2]
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

// Five results side by side.
// CHECK-LABEL: func.func @diagonal
// CHECK: hints {beside = 5 : i64
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

// A row of results is the vector unit's.
// CHECK-LABEL: func.func @row
// CHECK: strategy = #tile.strategy<"vector-unit" m [0] n [1] k [2]
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

// Channels with filters of their own: its lanes.
// CHECK-LABEL: func.func @depthwise
// CHECK: strategy = #tile.strategy<"vector-unit" m [0, 1] lanes [2]
func.func @depthwise(%a: memref<16x16x256xbf16>, %b: memref<3x3x256xbf16>,
                     %c: memref<14x14x256xbf16>) {
  tile.contract a(%a : memref<16x16x256xbf16>) b(%b : memref<3x3x256xbf16>)
    outs(%c : memref<14x14x256xbf16>) attributes {
      parallel = array<i64: 14, 14, 256>, reduced = array<i64: 3, 3>,
      maps = [affine_map<(h, w, o, r, s) -> (h + r, w + s, o)>,
              affine_map<(h, w, o, r, s) -> (r, s, o)>,
              affine_map<(h, w, o) -> (h, w, o)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}


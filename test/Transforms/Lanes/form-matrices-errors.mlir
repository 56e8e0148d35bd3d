// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-matrices --split-input-file --verify-diagnostics

func.func @apart(%a: memref<80x20xbf16>, %b: memref<40x16x2xbf16>, %c: memref<20x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<20x16xf32, registers = [16, 16]>
  // expected-error @+2 {{expected rows of a whose terms lie side by side, and rows of b in groups, for a matrix unit}}
  // expected-error @+1 {{failed to legalize}}
  %sums = tile.step %none, %a, %b {reduced = array<i64: 40, 2>, unroll = 16 : i64, grouped,
      aMap = affine_map<(m, n, k, g) -> (k * 2 + g, m)>,
      bMap = affine_map<(m, n, k, g) -> (k, n, g)>}
    : !tile.acc<20x16xf32, registers = [16, 16]>, memref<80x20xbf16>, memref<40x16x2xbf16>
  tile.drain %sums to %c : memref<20x16xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<20x16xf32, registers = [16, 16]>
  return
}

// -----

func.func @one(%c: memref<20x16xf32>) {
  // expected-note @below {{the number is here}}
  %one = arith.constant 1.0 : f32
  // expected-error @+2 {{expected zero to begin with in a matrix unit}}
  // expected-error @+1 {{failed to legalize}}
  %sums = tile.init %one : f32 to !tile.acc<20x16xf32, registers = [16, 16]>
  tile.drain %sums to %c : memref<20x16xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<20x16xf32, registers = [16, 16]>
  return
}

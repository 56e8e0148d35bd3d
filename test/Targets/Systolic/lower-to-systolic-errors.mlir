// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics \
// RUN:   --ashlar-lower-to-systolic=machine=tpu-128

// The array multiplies bf16.
func.func @type(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>) {
  // expected-error@+1 {{the machine tpu-128 does not compute this contraction: its factors are of f32, the array takes bf16}}
  tile.contract a(%a : memref<4x4xf32>) b(%b : memref<4x4xf32>)
    outs(%c : memref<4x4xf32>) attributes {
      parallel = array<i64: 4, 4>, reduced = array<i64: 4>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// What the vector unit has no operation for is named.
func.func @sine(%a: memref<4x4xbf16>, %b: memref<4x4xbf16>, %c: memref<4x4xf32>) {
  // expected-error@+1 {{the vector unit has no math.sin}}
  tile.contract a(%a : memref<4x4xbf16>) b(%b : memref<4x4xbf16>)
    outs(%c : memref<4x4xf32>) attributes {
      parallel = array<i64: 4, 4>, reduced = array<i64: 4>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = math.sin %sum : f32
    tile.yield %z : f32
  }
  return
}

// -----

func.func @panels(%a: memref<4x4xbf16>, %b: memref<2x4x2xbf16>, %c: memref<4x4xf32>) {
  // expected-error@+1 {{b's elements lie in panels}}
  tile.contract a(%a : memref<4x4xbf16>) b(%b : memref<2x4x2xbf16>)
    outs(%c : memref<4x4xf32>) attributes {
      parallel = array<i64: 4, 4>, reduced = array<i64: 4>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (n floordiv 2, k, n mod 2)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// -----

// A row of the result is what the array has side by side.
func.func @columns(%a: memref<4x4xbf16>, %b: memref<4x4xbf16>, %c: memref<4x4xf32>) {
  // expected-error@+1 {{its epilogue combines values of other dims than its columns}}
  tile.contract a(%a : memref<4x4xbf16>) b(%b : memref<4x4xbf16>)
    outs(%c : memref<4x4xf32>) attributes {
      parallel = array<i64: 4, 4>, reduced = array<i64: 4>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = tile.row_sum %sum over [0] : f32
    %y = arith.addf %sum, %z : f32
    tile.yield %y : f32
  }
  return
}

// -----

// What comes behind a row's sum reads one value of each element, not two.
func.func @late(%a: memref<4x4xbf16>, %b: memref<4x4xbf16>, %d: memref<4x4xf32>,
                %c: memref<4x4xf32>) {
  // expected-error@+1 {{behind its rows' sums or maxima, its epilogue reads more than one value of each element}}
  tile.contract a(%a : memref<4x4xbf16>) b(%b : memref<4x4xbf16>)
    epilogue(%d : memref<4x4xf32>) outs(%c : memref<4x4xf32>) attributes {
      parallel = array<i64: 4, 4>, reduced = array<i64: 4>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32, %other: f32):
    %z = tile.row_sum %sum over [1] : f32
    %y = arith.addf %other, %z : f32
    %x = arith.addf %sum, %y : f32
    tile.yield %x : f32
  }
  return
}

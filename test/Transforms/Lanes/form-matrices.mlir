// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-matrices=vector-bytes=64 --canonicalize --cse --split-input-file | FileCheck %s

// 20 rows and 24 columns are two by two registers of at most 16 by 16, each part
// of an operand is loaded once, and 40 pairs of terms are two products of 16 and
// one of 8. Sums go through memory to the epilogue, which is a loop over rows
// and reads what is the same for all of them once.
// CHECK-LABEL: func.func @product
// CHECK: %[[BUFFER:.*]] = memref.alloca() {alignment = 64 : i64} : memref<496xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16 iter_args({{.*}}) -> (!tile.matrix<16x16xf32>, !tile.matrix<16x8xf32>, !tile.matrix<4x16xf32>, !tile.matrix<4x8xf32>)
// CHECK: %[[A0:.*]] = tile.matrix_load {{.*}} stride = 80 : memref<{{.*}}> to <16x32xbf16>
// CHECK: %[[B0:.*]] = tile.matrix_load {{.*}} stride = 64 : memref<{{.*}}> to <16x32xbf16>
// CHECK: tile.matrix_multiply %{{.*}}, %[[A0]], %[[B0]]
// CHECK: %[[B1:.*]] = tile.matrix_load {{.*}} to <16x16xbf16>
// CHECK: tile.matrix_multiply %{{.*}}, %[[A0]], %[[B1]]
// CHECK: %[[A1:.*]] = tile.matrix_load {{.*}} to <4x32xbf16>
// CHECK: tile.matrix_multiply %{{.*}}, %[[A1]], %[[B0]]
// CHECK: tile.matrix_multiply %{{.*}}, %[[A1]], %[[B1]]
// CHECK-NOT: tile.matrix
// CHECK: scf.yield
// CHECK: tile.matrix_load {{.*}} to <16x16xbf16>
// CHECK: tile.matrix_load {{.*}} to <8x32xbf16>
// CHECK-COUNT-4: tile.matrix_multiply
// CHECK: tile.matrix_store %{{.*}} to %[[BUFFER]][%c0] stride = 24
// CHECK-COUNT-3: tile.matrix_store
// CHECK: %[[SUMS:.*]] = memref.reinterpret_cast %[[BUFFER]]
// CHECK: %[[BIAS:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c20 step %c1 {
// CHECK: %[[X:.*]] = vector.load %[[SUMS]]{{.*}} vector<16xf32>
// CHECK: vector.load %[[SUMS]]{{.*}} vector<8xf32>
// CHECK: arith.addf %[[X]], %[[BIAS]]
// CHECK: vector.store
// CHECK-NOT: tile.
func.func @product(%a: memref<20x80xbf16>, %b: memref<40x32x2xbf16>, %bias: memref<24xf32>,
                   %c: memref<20x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<20x24xf32, registers = [16, 16]>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 40, 2>, unroll = 16 : i64, grouped,
      aMap = affine_map<(m, n, k, g) -> (m, k * 2 + g)>,
      bMap = affine_map<(m, n, k, g) -> (k, n, g)>}
    : !tile.acc<20x24xf32, registers = [16, 16]>, memref<20x80xbf16>, memref<40x32x2xbf16>
  tile.drain %sums epilogue(%bias : memref<24xf32>) to %c : memref<20x24xf32> attributes {
      maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%x: f32, %p: f32):
    %y = arith.addf %x, %p : f32
    tile.yield %y : f32
  } : !tile.acc<20x24xf32, registers = [16, 16]>
  return
}

// -----

// Rows of two places lie apart: each place has registers of its own. Taps are
// loops outside.
// CHECK-LABEL: func.func @taps
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1 {{.*}} -> (!tile.matrix<7x16xi32>, !tile.matrix<7x16xi32>)
// CHECK: tile.matrix_load {{.*}} stride = 64 : {{.*}} to <7x64xi8>
// CHECK: tile.matrix_load {{.*}} to <16x64xi8>
// CHECK: tile.matrix_multiply {{.*}} {aUnsigned}
// CHECK: tile.matrix_load {{.*}} to <7x64xi8>
// CHECK: tile.matrix_multiply
// CHECK: scf.yield
// CHECK-COUNT-2: tile.matrix_store
func.func @taps(%a: memref<2x9x64xi8>, %b: memref<3x16x16x4xi8>, %c: memref<2x7x16xi32>) {
  %zero = arith.constant 0 : i32
  %none = tile.init %zero : i32 to !tile.acc<2x7x16xi32, registers = [16, 16]>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 3, 16, 4>, unroll = 16 : i64, grouped, aUnsigned,
      aMap = affine_map<(h, w, o, s, c, g) -> (h, w + s, c * 4 + g)>,
      bMap = affine_map<(h, w, o, s, c, g) -> (s, c, o, g)>}
    : !tile.acc<2x7x16xi32, registers = [16, 16]>, memref<2x9x64xi8>, memref<3x16x16x4xi8>
  tile.drain %sums to %c : memref<2x7x16xi32> attributes {maps = [affine_map<(h, w, o) -> (h, w, o)>]} {
  ^bb0(%x: i32):
    tile.yield %x : i32
  } : !tile.acc<2x7x16xi32, registers = [16, 16]>
  return
}

// -----

// Sums in vectors are another pass's.
// CHECK-LABEL: func.func @vectors
// CHECK: tile.step
// CHECK: tile.drain
func.func @vectors(%a: memref<100xf32>, %b: memref<100x8xf32>, %c: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<8xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 100>, unroll = 4 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<8xf32>, memref<100xf32>, memref<100x8xf32>
  tile.drain %sums to %c : memref<8xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<8xf32>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-vectorize-steps --canonicalize --cse --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-vectorize-steps=vector-bytes=64 --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=WIDE

// Two rows of two registers, of which there are two each, since four sums would
// wait for each other, are eight values of the loop over the terms, of which four
// are written out. Each row of b is loaded once for both rows of a, each element
// of a once for both registers.
// CHECK-LABEL: func.func @rows
// CHECK: %[[SUMS:.*]]:8 = scf.for %{{.*}} = %c0 to %c100 step %c4 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: memref.load
// CHECK: %[[X0:.*]] = vector.broadcast
// CHECK: %[[Y0:.*]] = vector.load
// CHECK: vector.fma %[[X0]], %[[Y0]]
// CHECK: %[[Y1:.*]] = vector.load
// CHECK: vector.fma %[[X0]], %[[Y1]]
// CHECK: memref.load
// CHECK: %[[X1:.*]] = vector.broadcast
// CHECK: vector.fma %[[X1]], %[[Y0]]
// CHECK: vector.fma %[[X1]], %[[Y1]]
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: %[[S0:.*]] = arith.addf %[[SUMS]]#0, %[[SUMS]]#4
// CHECK: %[[S1:.*]] = arith.addf %[[SUMS]]#1, %[[SUMS]]#5
// CHECK: %[[S2:.*]] = arith.addf %[[SUMS]]#2, %[[SUMS]]#6
// CHECK: %[[S3:.*]] = arith.addf %[[SUMS]]#3, %[[SUMS]]#7
// CHECK: vector.store %[[S0]]
// CHECK: vector.store %[[S1]]
// CHECK: vector.store %[[S2]]
// CHECK: vector.store %[[S3]]
// CHECK-NOT: tile.
// WIDE-LABEL: func.func @rows
// WIDE: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
func.func @rows(%a: memref<2x100xf32>, %b: memref<100x16xf32>, %c: memref<2x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<2x16xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 100>, unroll = 4 : i64,
      aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>}
    : !tile.acc<2x16xf32>, memref<2x100xf32>, memref<100x16xf32>
  tile.drain %sums to %c : memref<2x16xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<2x16xf32>
  return
}

// -----

// Terms that four do not divide are written out behind the loop.
// CHECK-LABEL: func.func @long
// CHECK: scf.for %{{.*}} = %c0 to %c100 step %c4
// CHECK-COUNT-4: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-3: vector.fma
// CHECK-NOT: vector.fma
// CHECK: vector.store
func.func @long(%a: memref<103xf32>, %b: memref<103x8xf32>, %c: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<8xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 103>, unroll = 4 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<8xf32>, memref<103xf32>, memref<103x8xf32>
  tile.drain %sums to %c : memref<8xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<8xf32>
  return
}

// -----

// The lanes of the last register that do not exist are masked wherever memory is
// read or written; a few terms have no loop.
// CHECK-LABEL: func.func @edge
// CHECK-NOT: scf.for
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: %[[MASK:.*]] = vector.constant_mask [5] : vector<8xi1>
// CHECK: vector.maskedload {{.*}} %[[MASK]]
// CHECK-COUNT-2: vector.maskedload
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: vector.maskedload {{.*}} %[[MASK]]
// CHECK: vector.maskedstore {{.*}} %[[MASK]]
// WIDE-LABEL: func.func @edge
// WIDE: vector.constant_mask [13] : vector<16xi1>
// WIDE: vector.maskedstore
func.func @edge(%a: memref<100xf32>, %b: memref<100x13xf32>, %p: memref<13xf32>, %c: memref<13xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<13xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 3>, unroll = 4 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<13xf32>, memref<100xf32>, memref<100x13xf32>
  tile.drain %sums epilogue(%p : memref<13xf32>) to %c : memref<13xf32> attributes {maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tile.yield %z : f32
  } : !tile.acc<13xf32>
  return
}

// -----

// The last register is no wider than what it holds: four lanes are half of one, and
// need no mask.
// CHECK-LABEL: func.func @half
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: vector.fma {{.*}} : vector<4xf32>
// CHECK-NOT: mask
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: vector.store {{.*}} vector<4xf32>
// CHECK-NOT: mask
// WIDE-LABEL: func.func @half
// WIDE: vector.constant_mask [12] : vector<16xi1>
func.func @half(%a: memref<100xf32>, %b: memref<100x12xf32>, %c: memref<12xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<12xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 1>, unroll = 1 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<12xf32>, memref<100xf32>, memref<100x12xf32>
  tile.drain %sums to %c : memref<12xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<12xf32>
  return
}

// -----

// Lanes that lie apart are gathered, those that exist; they are stored one by one.
// CHECK-LABEL: func.func @gather
// CHECK: arith.constant dense<[0, 8, 16, 24, 32, 40, 48, 56]> : vector<8xi32>
// CHECK: %[[MASK:.*]] = vector.constant_mask [7] : vector<8xi1>
// CHECK: vector.gather {{.*}} %[[MASK]]
// CHECK-COUNT-7: memref.store
// CHECK-NOT: memref.store
func.func @gather(%a: memref<8xf32>, %b: memref<7x8xf32>, %c: memref<7x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<7xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 8>, unroll = 1 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (n, k)>}
    : !tile.acc<7xf32>, memref<8xf32>, memref<7x8xf32>
  tile.drain %sums to %c : memref<7x3xf32> attributes {maps = [affine_map<(n) -> (n, 1)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<7xf32>
  return
}

// -----

// Bytes are extended as the step says, a without a sign, b with one; integers have
// no fused product.
// CHECK-LABEL: func.func @integers
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: vector.broadcast {{.*}} vector<8xi32>
// CHECK: arith.extsi %{{.*}} : vector<8xi8> to vector<8xi32>
// CHECK: %[[P:.*]] = arith.muli {{.*}} : vector<8xi32>
// CHECK: arith.addi {{.*}}%[[P]]{{.*}} : vector<8xi32>
func.func @integers(%a: memref<8xi8>, %b: memref<8x8xi8>, %c: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  %none = tile.init %zero : i32 to !tile.acc<8xi32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 8>, unroll = 1 : i64, aUnsigned,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<8xi32>, memref<8xi8>, memref<8x8xi8>
  tile.drain %sums to %c : memref<8xi32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: i32):
    tile.yield %x : i32
  } : !tile.acc<8xi32>
  return
}

// -----

// Accumulators that a loop carries are its vectors; chunks are added up.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %{{.*}}) -> (vector<8xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[TOTAL]], %{{.*}} : vector<8xf32>
// CHECK: scf.yield %[[SUM]]
func.func @carried(%a: memref<4x8xf16>, %b: memref<8x8xf16>, %c: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %none = tile.init %zero : f32 to !tile.acc<8xf32>
  %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%total = %none) -> (!tile.acc<8xf32>) {
    %row = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf16> to memref<1x8xf16, strided<[8, 1], offset: ?>>
    %part = tile.step %none, %row, %b {reduced = array<i64: 8>, unroll = 1 : i64,
        aMap = affine_map<(n, k) -> (0, k)>, bMap = affine_map<(n, k) -> (k, n)>}
      : !tile.acc<8xf32>, memref<1x8xf16, strided<[8, 1], offset: ?>>, memref<8x8xf16>
    %sum = tile.add %total, %part : !tile.acc<8xf32>
    scf.yield %sum : !tile.acc<8xf32>
  }
  tile.drain %all to %c : memref<8xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<8xf32>
  return
}

// -----

// A group of a is loaded once and goes to all lanes as one number, groups of b
// lie beside each other; the last column, alone, is masked.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: %[[SUM:.*]]: f32
// CHECK: %[[B:.*]] = vector.load %{{.*}} : {{.*}}, vector<16xbf16>
// CHECK: %[[D0:.*]] = tile.dot %{{.*}}, %[[A:.*]], %[[B]] : vector<8xf32>, vector<16xbf16>
// CHECK-DAG: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<1xf32>, vector<2xbf16>
func.func @grouped(%zero: f32, %a: memref<6xbf16>, %b: memref<3x16x2xbf16>, %c: memref<9xf32>) {
  %none = tile.init %zero : f32 to !tile.acc<9xf32>
  %all = tile.step %none, %a, %b {reduced = array<i64: 3, 2>, unroll = 1 : i64, grouped,
      aMap = affine_map<(n, k, j) -> (k * 2 + j)>, bMap = affine_map<(n, k, j) -> (k, n, j)>}
    : !tile.acc<9xf32>, memref<6xbf16>, memref<3x16x2xbf16>
  tile.drain %all to %c : memref<9xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<9xf32>
  return
}

// -----

// Rows of b that lie apart are asked for some terms before: a line for each
// register of the box.
// CHECK-LABEL: func.func @ahead
// CHECK: scf.for %[[K:.*]] = %c0 to %c100 step %c4
// CHECK: %[[ROW:.*]] = affine.apply #{{.*}}(%[[K]])
// CHECK: %[[FAR:.*]] = arith.addi %[[ROW]], %c640
// CHECK: memref.prefetch %{{.*}}[%[[FAR]]], read, locality<2>, data
// CHECK: memref.prefetch
// CHECK: vector.fma
// CHECK: vector.fma
// CHECK-COUNT-6: memref.prefetch
// CHECK-NOT: memref.prefetch
func.func @ahead(%a: memref<100xf32>, %b: memref<100x64xf32>, %c: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<16xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 100>, unroll = 4 : i64, ahead = 10 : i64,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<16xf32>, memref<100xf32>, memref<100x64xf32>
  tile.drain %sums to %c : memref<16xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.acc<16xf32>
  return
}

// -----

// Rows, and the lanes of what the epilogue reads, may lie as far apart as a
// value says: what each row adds to a base is known in front of the loops, and
// such lanes are put together one by one.
// CHECK-LABEL: func.func @open_strides
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}:2, %[[A:.*]]:2 = memref.extract_strided_metadata %arg0
// CHECK: scf.for %[[K:.*]] = %c0 to %c100 step %c4 iter_args
// CHECK: arith.addi %[[K]], %[[A]]#0
// CHECK-COUNT-7: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}:2, %[[R:.*]]:2 = memref.extract_strided_metadata %arg2
// CHECK: memref.load %{{.*}}[%c0]
// CHECK: memref.load %{{.*}}[%[[R]]#1]
// CHECK: arith.addi %[[R]]#1, %[[R]]#1
// CHECK-COUNT-6: memref.load
// CHECK: vector.from_elements
// CHECK: vector.store
// CHECK: vector.from_elements
// CHECK: vector.store
// WIDE-LABEL: func.func @open_strides
func.func @open_strides(%a: memref<2x100xf32, strided<[?, 1]>>, %b: memref<100x8xf32>,
                        %r: memref<2x8xf32, strided<[1, ?]>>, %c: memref<2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<2x8xf32>
  %sums = tile.step %none, %a, %b {reduced = array<i64: 100>, unroll = 4 : i64,
      aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>}
    : !tile.acc<2x8xf32>, memref<2x100xf32, strided<[?, 1]>>, memref<100x8xf32>
  tile.drain %sums epilogue(%r : memref<2x8xf32, strided<[1, ?]>>) to %c : memref<2x8xf32> attributes {
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tile.yield %z : f32
  } : !tile.acc<2x8xf32>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --verify-roundtrip | FileCheck %s

// A contraction on tensors has a result, an epilogue with operands of its own,
// and a strategy beside its maps.
// CHECK-LABEL: func.func @on_tensors
// CHECK: %[[Y:.*]] = tile.contract a(%arg0 : tensor<1x58x58x64xf32>) b(%arg1 : tensor<2x3x3x64x32xf32>) epilogue(%arg2 : tensor<64xf32>) outs(%arg3 : tensor<1x56x56x64xf32>) attributes
// CHECK-SAME: parallel = array<i64: 1, 56, 56, 64>
// CHECK-SAME: reduced = array<i64: 3, 3, 64>
// CHECK-SAME: strategy = #tile.strategy<"fma" m [1, 2] n [3] k [4, 5, 6], grid core [_, 28, _, _ | _, _, _], loop [1, 1, 14, 32 | _, _, _] order [0, 3, 1, 2], b: prefetch l2 slots 8, acc vectors, hints {unroll = 4 : i64}>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[SUM]], %[[BIAS]] : f32
// CHECK-NEXT: tile.yield %[[Z]] : f32
// CHECK-NEXT: } -> tensor<1x56x56x64xf32>
// CHECK-NEXT: return %[[Y]]
func.func @on_tensors(%x: tensor<1x58x58x64xf32>, %w: tensor<2x3x3x64x32xf32>,
                      %bias: tensor<64xf32>, %d: tensor<1x56x56x64xf32>)
    -> tensor<1x56x56x64xf32> {
  %y = tile.contract a(%x: tensor<1x58x58x64xf32>) b(%w: tensor<2x3x3x64x32xf32>)
      epilogue(%bias: tensor<64xf32>) outs(%d: tensor<1x56x56x64xf32>) attributes {
    parallel = array<i64: 1, 56, 56, 64>, reduced = array<i64: 3, 3, 64>,
    maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>,
            affine_map<(n, h, w, o, r, s, c) -> (o floordiv 32, r, s, c, o mod 32)>,
            affine_map<(n, h, w, o) -> (o)>,
            affine_map<(n, h, w, o) -> (n, h, w, o)>],
    strategy = #tile.strategy<"fma" m [1, 2] n [3] k [4, 5, 6], grid core [_, 28, _, _ | _, _, _], loop [1, 1, 14, 32 | _, _, _] order [0, 3, 1, 2], b: prefetch l2 slots 8, acc vectors, hints {unroll = 4 : i64}>} {
  ^bb0(%sum: f32, %p: f32):
    %z = arith.addf %sum, %p : f32
    tile.yield %z : f32
  } -> tensor<1x56x56x64xf32>
  return %y : tensor<1x56x56x64xf32>
}

// On memrefs it has no result; integers keep how they are extended, and the
// border of the result its value.
// CHECK-LABEL: func.func @on_memrefs
// CHECK: tile.contract a(%arg0 : memref<4x8xi8>) b(%arg1 : memref<8x6xi8>) outs(%arg2 : memref<6x6xi32>) attributes {aUnsigned,
// CHECK-SAME: bUnsigned
// CHECK-SAME: pad = 7 : i32
// CHECK-NOT: ->
// CHECK: return
func.func @on_memrefs(%a: memref<4x8xi8>, %b: memref<8x6xi8>, %c: memref<6x6xi32>) {
  tile.contract a(%a: memref<4x8xi8>) b(%b: memref<8x6xi8>) outs(%c: memref<6x6xi32>) attributes {
    parallel = array<i64: 4, 6>, reduced = array<i64: 8>, aUnsigned, bUnsigned, pad = 7 : i32,
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
            affine_map<(m, n) -> (m + 1, n)>]} {
  ^bb0(%sum: i32):
    tile.yield %sum : i32
  }
  return
}

// A contraction may sum over nothing, and over dims of size zero.
// CHECK-LABEL: func.func @without_terms
// CHECK: reduced = array<i64>
// CHECK: reduced = array<i64: 0>
func.func @without_terms(%a: memref<4xf32>, %b: memref<6xf32>, %e: memref<4x0xf32>,
                         %f: memref<0x6xf32>, %c: memref<4x6xf32>) {
  tile.contract a(%a: memref<4xf32>) b(%b: memref<6xf32>) outs(%c: memref<4x6xf32>) attributes {
    parallel = array<i64: 4, 6>, reduced = array<i64>,
    maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  tile.contract a(%e: memref<4x0xf32>) b(%f: memref<0x6xf32>) outs(%c: memref<4x6xf32>) attributes {
    parallel = array<i64: 4, 6>, reduced = array<i64: 0>,
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
            affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// Panels of 32 columns of an OIHW weight, with the input channels innermost
// but for the columns; 40 columns take two panels.
// CHECK-LABEL: func.func @pack
// CHECK: tile.pack %arg0 columns = 0 order = [2, 3, 1] : tensor<40x64x3x3xf32> to tensor<2x3x3x64x32xf32>
func.func @pack(%w: tensor<40x64x3x3xf32>) -> tensor<2x3x3x64x32xf32> {
  %p = tile.pack %w columns = 0 order = [2, 3, 1]
    : tensor<40x64x3x3xf32> to tensor<2x3x3x64x32xf32>
  return %p : tensor<2x3x3x64x32xf32>
}

// What a pack of a constant becomes in a program's weights: the constant's own
// bytes, seen in another order.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: [#tile.packed<dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>, strides = [2, 1], panel = 2, clip = 3> : tensor<2x2xf32>]
func.func @packed() attributes {weights = [
    #tile.packed<dense<[1.0, 2.0, 3.0]> : tensor<3xf32>,
                 strides = [2, 1], panel = 2, clip = 3> : tensor<2x2xf32>]} {
  return
}

// Level 3: accumulators are values, so they pass through loops; a step says
// what it sums over and how far it is written out.
// CHECK-LABEL: func.func @expanded
// CHECK: %[[INIT:.*]] = tile.init %{{.*}} : f32 to <14x32xf32>
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %[[INIT]]) -> (!tile.acc<14x32xf32>)
// CHECK: %[[PART:.*]] = tile.step %[[INIT]], %arg0, %arg1 {aMap = #{{.*}}, bMap = #{{.*}}, reduced = array<i64: 3, 64>, unroll = 4 : i64} : <14x32xf32>, memref<16x64xf32>, memref<3x64x32xf32>
// CHECK: %[[SUM:.*]] = tile.add %[[TOTAL]], %[[PART]] : <14x32xf32>
// CHECK: scf.yield %[[SUM]]
// CHECK: tile.drain %[[SUMS]] epilogue(%arg2 : memref<32xf32>) to %arg3 : memref<14x32xf32> attributes
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK: tile.yield
// CHECK-NEXT: } : <14x32xf32>
func.func @expanded(%a: memref<16x64xf32>, %b: memref<3x64x32xf32>, %bias: memref<32xf32>,
                    %c: memref<14x32xf32>, %n: index) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !tile.acc<14x32xf32>
  %sums = scf.for %i = %i0 to %n step %i1 iter_args(%total = %none) -> (!tile.acc<14x32xf32>) {
    %part = tile.step %none, %a, %b {
        reduced = array<i64: 3, 64>, unroll = 4 : i64,
        aMap = affine_map<(w, o, s, c) -> (w + s, c)>,
        bMap = affine_map<(w, o, s, c) -> (s, c, o)>}
      : !tile.acc<14x32xf32>, memref<16x64xf32>, memref<3x64x32xf32>
    %sum = tile.add %total, %part : !tile.acc<14x32xf32>
    scf.yield %sum : !tile.acc<14x32xf32>
  }
  tile.drain %sums epilogue(%bias : memref<32xf32>) to %c : memref<14x32xf32>
      attributes {maps = [affine_map<(w, o) -> (o)>, affine_map<(w, o) -> (w, o)>]} {
  ^bb0(%x: f32, %p: f32):
    %z = arith.addf %x, %p : f32
    tile.yield %z : f32
  } : !tile.acc<14x32xf32>
  return
}

// A step keeps how integers are extended; a drain without an epilogue has one
// map.
// CHECK-LABEL: func.func @integers
// CHECK: tile.step {{.*}} {aMap = #{{.*}}, aUnsigned, bMap = #{{.*}}, bUnsigned,
// CHECK: tile.drain %{{.*}} to %arg2 : memref<4xi32> attributes {maps = [#{{[a-z0-9]*}}]}
func.func @integers(%a: memref<8xi8>, %b: memref<8x4xi8>, %c: memref<4xi32>) {
  %zero = arith.constant 0 : i32
  %none = tile.init %zero : i32 to !tile.acc<4xi32>
  %sums = tile.step %none, %a, %b {
      reduced = array<i64: 8>, unroll = 1 : i64, aUnsigned, bUnsigned,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<4xi32>, memref<8xi8>, memref<8x4xi8>
  tile.drain %sums to %c : memref<4xi32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%x: i32):
    tile.yield %x : i32
  } : !tile.acc<4xi32>
  return
}

// CHECK-LABEL: func.func @groups
func.func @groups(%w: tensor<64x3x3x64xbf16>, %s: vector<16xf32>, %a: vector<32xbf16>, %n: vector<8xi32>, %u: vector<32xi8>)
    -> (tensor<2x3x3x32x32x2xbf16>, vector<16xf32>, vector<8xi32>) {
  // CHECK: tile.pack %{{.*}} columns = 0 order = [1, 2, 3] group = 2 : tensor<64x3x3x64xbf16> to tensor<2x3x3x32x32x2xbf16>
  %p = tile.pack %w columns = 0 order = [1, 2, 3] group = 2 : tensor<64x3x3x64xbf16> to tensor<2x3x3x32x32x2xbf16>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<16xf32>, vector<32xbf16>
  %1 = tile.dot %s, %a, %a : vector<16xf32>, vector<32xbf16>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {aUnsigned} : vector<8xi32>, vector<32xi8>
  %2 = tile.dot %n, %u, %u {aUnsigned} : vector<8xi32>, vector<32xi8>
  return %p, %1, %2 : tensor<2x3x3x32x32x2xbf16>, vector<16xf32>, vector<8xi32>
}

// CHECK-LABEL: func.func @rings
func.func @rings(%b: memref<4x3xbf16>, %c: memref<3x4xbf16>) {
  // CHECK: %[[RING:.*]] = tile.alloc : <3, 3x4xbf16, "l2", #tile.layout<pad [0, 4]>>
  %ring = tile.alloc : !tile.ring<3, 3x4xbf16, "l2", #tile.layout<pad [0, 4]>>
  // CHECK: %[[SLOT:.*]], %[[TOKEN:.*]] = tile.copy %{{.*}} to %[[RING]] {map = #{{.*}}} : memref<4x3xbf16> to <3, 3x4xbf16, "l2", #tile.layout<pad [0, 4]>>
  %slot, %token = tile.copy %b to %ring {map = affine_map<(k, n) -> (n, k)>}
    : memref<4x3xbf16> to !tile.ring<3, 3x4xbf16, "l2", #tile.layout<pad [0, 4]>>
  // CHECK: tile.wait %[[TOKEN]]
  tile.wait %token
  // CHECK: tile.view %[[SLOT]] : <3x4xbf16, "l2", #tile.layout<pad [0, 4]>> to memref<3x4xbf16, strided<[8, 1]>>
  %m = tile.view %slot : !tile.slot<3x4xbf16, "l2", #tile.layout<pad [0, 4]>> to memref<3x4xbf16, strided<[8, 1]>>
  memref.copy %m, %c : memref<3x4xbf16, strided<[8, 1]>> to memref<3x4xbf16>
  // CHECK: tile.release %[[SLOT]] : <3x4xbf16, "l2", #tile.layout<pad [0, 4]>>
  tile.release %slot : !tile.slot<3x4xbf16, "l2", #tile.layout<pad [0, 4]>>
  return
}

// CHECK-LABEL: func.func @matrices
func.func @matrices(%a: memref<?xbf16>, %c: memref<?xf32>, %at: index)
    attributes {strategy = #tile.strategy<"tile-bf16" shape [16, 16, 32] m [0] n [1] k [2 | 3], loop [32, 32 | _, _] order [0, 1], b: pack "L2 cache" at 0, acc tiles>} {
  // CHECK: strategy = #tile.strategy<"tile-bf16" shape [16, 16, 32] m [0] n [1] k [2 | 3], loop [32, 32 | _, _] order [0, 1], b: pack "L2 cache" at 0, acc tiles>
  // CHECK: %[[ZERO:.*]] = tile.matrix_zero : <16x16xf32>
  %0 = tile.matrix_zero : !tile.matrix<16x16xf32>
  // CHECK: %[[ROWS:.*]] = tile.matrix_load %{{.*}}[%{{.*}}] stride = 768 : memref<?xbf16> to <16x32xbf16>
  %1 = tile.matrix_load %a[%at] stride = 768 : memref<?xbf16> to !tile.matrix<16x32xbf16>
  // CHECK: %[[SUM:.*]] = tile.matrix_multiply %[[ZERO]], %[[ROWS]], %[[ROWS]] : <16x16xf32>, <16x32xbf16>, <16x32xbf16>
  %2 = tile.matrix_multiply %0, %1, %1 : !tile.matrix<16x16xf32>, !tile.matrix<16x32xbf16>, !tile.matrix<16x32xbf16>
  // CHECK: tile.matrix_store %[[SUM]] to %{{.*}}[%{{.*}}] stride = 16 : <16x16xf32> to memref<?xf32>
  tile.matrix_store %2 to %c[%at] stride = 16 : !tile.matrix<16x16xf32> to memref<?xf32>
  return
}

// CHECK-LABEL: func.func @in_matrices
// CHECK-SAME: !tile.acc<20x24xf32, registers = [16, 16]>
func.func @in_matrices(%a: !tile.acc<20x24xf32, registers = [16, 16]>) {
  return
}

// A row's values combined, and the result before it is rounded.
// CHECK-LABEL: func.func @rows
// CHECK: unrounded(%{{.*}} : tensor<4x6xf32>)
// CHECK: tile.row_maximum %{{.*}} over [1] : f32
// CHECK: tile.row_sum %{{.*}} over [1] : f32
// CHECK: -> tensor<4x6xbf16>, tensor<4x6xf32>
func.func @rows(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>,
                %c: tensor<4x6xbf16>, %d: tensor<4x6xf32>)
    -> (tensor<4x6xbf16>, tensor<4x6xf32>) {
  %y:2 = tile.contract a(%a: tensor<4x8xbf16>) b(%b: tensor<8x6xbf16>)
    outs(%c: tensor<4x6xbf16>) unrounded(%d: tensor<4x6xf32>) attributes {
      device = 1 : i64, parallel = array<i64: 4, 6>, reduced = array<i64: 8>,
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %most = tile.row_maximum %sum over [1] : f32
    %shifted = arith.subf %sum, %most : f32
    %all = tile.row_sum %shifted over [1] : f32
    %part = arith.divf %shifted, %all : f32
    %z = arith.truncf %part : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<4x6xbf16>, tensor<4x6xf32>
  return %y#0, %y#1 : tensor<4x6xbf16>, tensor<4x6xf32>
}

// Beside a window of a known size, only places along what it moves over are as
// many as a value says: the window needs no mask's form.
// CHECK-LABEL: func.func @open_windows
// CHECK: tile.contract
#x = affine_map<(w, o, c, k) -> (c, w + k)>
#w = affine_map<(w, o, c, k) -> (o, c, k)>
#y = affine_map<(w, o) -> (w, o)>
func.func @open_windows(%x: memref<8x?xf32>, %w: memref<32x8x2xf32>, %y: memref<?x32xf32>) {
  tile.contract a(%x : memref<8x?xf32>) b(%w : memref<32x8x2xf32>) outs(%y : memref<?x32xf32>) attributes {
      parallel = array<i64: 7, 32>, reduced = array<i64: 8, 2>, maps = [#x, #w, #y],
      strategy = #tile.strategy<"fma" m [0] n [1] k [2, 3], grid core [2, 32 | _, _], loop [2, 32 | 1, 2] order [2, 3],
        a: ring near at 1 slots 2, b: ring near at 1 slots 2, acc sums, masked [0, 1, 2, 3]>} {
    ^bb0(%s: f32):
      tile.yield %s : f32
  }
  return
}

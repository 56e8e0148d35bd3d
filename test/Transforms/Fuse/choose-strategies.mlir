// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-choose-strategies --split-input-file | FileCheck %s

// On 16 registers of 8 lanes, six rows of two vectors leave room for two vectors
// of b and an element of a, and divide the columns. Sums are added up in chunks of 512 terms.
// Workers get columns, of which b, the larger operand, has its own each; a column
// of boxes is outermost, so that its part of b stays near.
// CHECK-LABEL: func.func @variable
// CHECK-NOT: tile.pack
// CHECK: tile.contract {{.*}} strategy = #tile.strategy<"fma" m [0] n [1] k [2], grid core [_, 96 | _], loop [6, 16 | 512] order [1, 0, 2], acc vectors promote 1, hints {unroll = 4 : i64}>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @variable(%a: tensor<384x1536xf32>, %b: tensor<1536x768xf32>) -> tensor<384x768xf32> {
  %d = tensor.empty() : tensor<384x768xf32>
  %y = tile.contract a(%a : tensor<384x1536xf32>) b(%b : tensor<1536x768xf32>) outs(%d : tensor<384x768xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 384, 768>, reduced = array<i64: 1536>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<384x768xf32>
  return %y : tensor<384x768xf32>
}

// -----

// A constant b is stored in panels as wide as a box, filled up at the end: 49 of 16
// for 770 columns. The map says where a column lies.
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-LABEL: func.func @constant
// CHECK: %[[P:.*]] = tile.pack %{{.*}} columns = 1 order = [0] : tensor<1536x770xf32> to tensor<49x1536x16xf32>
// CHECK: tile.contract {{.*}} b(%[[P]] : tensor<49x1536x16xf32>) {{.*}}maps = [#{{[a-z0-9]+}}, #[[PANELS]], #{{[a-z0-9]+}}]
// CHECK-SAME: loop [6, 16 | 512] order [1, 0, 2], acc vectors
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @constant(%a: tensor<384x1536xf32>) -> tensor<384x770xf32> {
  %d = tensor.empty() : tensor<384x770xf32>
  %b = arith.constant dense_resource<w> : tensor<1536x770xf32>
  %y = tile.contract a(%a : tensor<384x1536xf32>) b(%b : tensor<1536x770xf32>) outs(%d : tensor<384x770xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 384, 770>, reduced = array<i64: 1536>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<384x770xf32>
  return %y : tensor<384x770xf32>
}
{-# dialect_resources: { builtin: { w: "0x04000000" } } #-}

// -----

// A convolution's weights are packed so that the kernel reads them as it goes: taps,
// input channels, the output channels of a box. No chunk is longer than 512 terms:
// here it is one row of taps, 3 * 64.
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3 floordiv 24, d4, d5, d6, d3 mod 24)>
// CHECK-LABEL: func.func @convolution
// CHECK: %[[P:.*]] = tile.pack %{{.*}} columns = 0 order = [2, 3, 1] : tensor<72x64x3x3xf32> to tensor<3x3x3x64x24xf32>
// CHECK: tile.contract {{.*}} b(%[[P]] : {{.*}}maps = [#{{[a-z0-9]+}}, #[[PANELS]], #{{[a-z0-9]+}}]
// CHECK-SAME: loop [1, 1, 4, 24 | 1, _, _]
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @convolution(%x: tensor<1x58x58x64xf32>) -> tensor<1x56x56x72xf32> {
  %w = arith.constant dense_resource<v> : tensor<72x64x3x3xf32>
  %d = tensor.empty() : tensor<1x56x56x72xf32>
  %y = tile.contract a(%x : tensor<1x58x58x64xf32>) b(%w : tensor<72x64x3x3xf32>) outs(%d : tensor<1x56x56x72xf32>) attributes {
      maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>,
              affine_map<(n, h, w, o, r, s, c) -> (o, c, r, s)>,
              affine_map<(n, h, w, o) -> (n, h, w, o)>],
      parallel = array<i64: 1, 56, 56, 72>, reduced = array<i64: 3, 3, 64>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<1x56x56x72xf32>
  return %y : tensor<1x56x56x72xf32>
}
{-# dialect_resources: { builtin: { v: "0x04000000" } } #-}

// -----

// Columns that lie apart, as those of keys do, are packed by the worker that reads
// them; the loop over them is outermost, so that a panel is made once.
// CHECK-LABEL: func.func @across
// CHECK-NOT: tile.pack
// CHECK: tile.contract {{.*}} loop [_, 16 | _] order [1], loop [6, 16 | _] order [0], b: pack l3 at 0, acc vectors, hints
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @across(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> tensor<64x64xf32> {
  %d = tensor.empty() : tensor<64x64xf32>
  %y = tile.contract a(%a : tensor<64x32xf32>) b(%b : tensor<64x32xf32>) outs(%d : tensor<64x64xf32>) attributes {
      maps = [#mk, #nk, #mn], parallel = array<i64: 64, 64>, reduced = array<i64: 32>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// Each matrix of a batch has a worker; nothing is shared between them.
// CHECK-LABEL: func.func @batched
// CHECK: tile.contract {{.*}} strategy = #tile.strategy<{{.*}}grid core [1, _, _ | _], {{.*}} order [0,
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @batched(%a: tensor<12x128x64xf32>, %b: tensor<12x64x128xf32>) -> tensor<12x128x128xf32> {
  %d = tensor.empty() : tensor<12x128x128xf32>
  %y = tile.contract a(%a : tensor<12x128x64xf32>) b(%b : tensor<12x64x128xf32>) outs(%d : tensor<12x128x128xf32>) attributes {
      maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n) -> (h, m, n)>],
      parallel = array<i64: 12, 128, 128>, reduced = array<i64: 64>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<12x128x128xf32>
  return %y : tensor<12x128x128xf32>
}

// -----

// Integers are summed exactly, in one go.
// CHECK-LABEL: func.func @integers
// CHECK: tile.contract {{.*}} loop [{{[0-9]+}}, 16 | _] order [{{[01], [01]}}], acc
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @integers(%a: tensor<16x1024xi8>, %b: tensor<1024x16xi8>) -> tensor<16x16xi32> {
  %d = tensor.empty() : tensor<16x16xi32>
  %y = tile.contract a(%a : tensor<16x1024xi8>) b(%b : tensor<1024x16xi8>) outs(%d : tensor<16x16xi32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 16, 16>, reduced = array<i64: 1024>} {
  ^bb0(%s: i32):
    tile.yield %s : i32
  } -> tensor<16x16xi32>
  return %y : tensor<16x16xi32>
}

// -----

// A count of terms without a divisor stays whole.
// CHECK-LABEL: func.func @prime
// CHECK: tile.contract {{.*}} loop [{{[0-9]+}}, 16 | _] order [{{[01], [01]}}], acc
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @prime(%a: tensor<16x1021xf32>, %b: tensor<1021x16xf32>) -> tensor<16x16xf32> {
  %d = tensor.empty() : tensor<16x16xf32>
  %y = tile.contract a(%a : tensor<16x1021xf32>) b(%b : tensor<1021x16xf32>) outs(%d : tensor<16x16xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 16, 16>, reduced = array<i64: 1021>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

// A row by a large matrix reads each row of b once, pages apart from the next:
// they are asked for some terms before. Where b is small, they are not.
// CHECK-LABEL: func.func @apart
// CHECK: tile.contract {{.*}}tensor<4096x1000xf32>{{.*}} b: prefetch l3 slots {{[1-9][0-9]*}}, acc
// CHECK: tile.contract {{.*}}tensor<64x1000xf32>{{.*}} order [{{[01], [01]}}], acc
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @apart(%a: tensor<1x4096xf32>, %b: tensor<4096x1000xf32>, %e: tensor<1x64xf32>,
                 %f: tensor<64x1000xf32>) -> (tensor<1x1000xf32>, tensor<1x1000xf32>) {
  %d = tensor.empty() : tensor<1x1000xf32>
  %y = tile.contract a(%a : tensor<1x4096xf32>) b(%b : tensor<4096x1000xf32>) outs(%d : tensor<1x1000xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 1, 1000>, reduced = array<i64: 4096>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<1x1000xf32>
  %z = tile.contract a(%e : tensor<1x64xf32>) b(%f : tensor<64x1000xf32>) outs(%d : tensor<1x1000xf32>) attributes {
      maps = [#mk, #kn, #mn], parallel = array<i64: 1, 1000>, reduced = array<i64: 64>} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } -> tensor<1x1000xf32>
  return %y, %z : tensor<1x1000xf32>, tensor<1x1000xf32>
}

// -----

// Unrolled taps share elements of a, which wait in registers of their own: fewer
// rows than the six of other products.
// CHECK-LABEL: func.func @taps
// CHECK: tile.contract {{.*}} loop [1, 5, 16 | _, _] order [0, 1]
func.func @taps(%x: tensor<1x48x102xf32>, %w: tensor<196x48x3xf32>) -> tensor<1x100x196xf32> {
  %e = tensor.empty() : tensor<1x100x196xf32>
  %y = tile.contract a(%x : tensor<1x48x102xf32>) b(%w : tensor<196x48x3xf32>) outs(%e : tensor<1x100x196xf32>) attributes {
      maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1 + d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>,
              affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      parallel = array<i64: 1, 100, 196>, reduced = array<i64: 48, 3>} {
    ^bb0(%s: f32):
      tile.yield %s : f32
  } -> tensor<1x100x196xf32>
  return %y : tensor<1x100x196xf32>
}

// -----

// Inside of three loops over terms, boxes that end with half a vector leave
// registers free, too; inside of two they need not.
// CHECK-LABEL: func.func @halves
// CHECK: tile.contract {{.*}} loop [1, 4, 12 | _, _, _] order [0, 1]
// CHECK: tile.contract {{.*}} loop [1, 6, 12 | _, _] order [0, 1]
func.func @halves(%x: tensor<34x68x16xf32>, %w: tensor<12x3x3x16xf32>, %u: tensor<12x3x16xf32>) -> (tensor<32x66x12xf32>, tensor<32x66x12xf32>) {
  %e = tensor.empty() : tensor<32x66x12xf32>
  %y = tile.contract a(%x : tensor<34x68x16xf32>) b(%w : tensor<12x3x3x16xf32>) outs(%e : tensor<32x66x12xf32>) attributes {
      maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, d4, d5)>,
              affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      parallel = array<i64: 32, 66, 12>, reduced = array<i64: 3, 3, 16>} {
    ^bb0(%s: f32):
      tile.yield %s : f32
  } -> tensor<32x66x12xf32>
  %z = tile.contract a(%x : tensor<34x68x16xf32>) b(%u : tensor<12x3x16xf32>) outs(%e : tensor<32x66x12xf32>) attributes {
      maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d1, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>,
              affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      parallel = array<i64: 32, 66, 12>, reduced = array<i64: 3, 16>} {
    ^bb0(%s: f32):
      tile.yield %s : f32
  } -> tensor<32x66x12xf32>
  return %y, %z : tensor<32x66x12xf32>, tensor<32x66x12xf32>
}

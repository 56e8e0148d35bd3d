// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_80 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_90a --canonicalize --cse | FileCheck %s

// Weights of 4 bits with a scale for each block of 32, and few rows: who copies
// them to a unit computes them, whatever the columns lie in. The others come by
// an engine that goes on by itself.
// CHECK-DAG: #[[BYTES:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 32, d1 mod 16)>
// CHECK-DAG: #[[SCALES:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 32)>
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
// CHECK-LABEL: func.func @few
// CHECK-SAME: (%[[X:.*]]: tensor<64x1024xf16>, %[[W:.*]]: tensor<512x32x16xi8>, %[[S:.*]]: tensor<512x32xf16>)
// CHECK: %[[B:.*]] = tile.decode %[[W]], %[[S]] maps [#[[BYTES]], #[[SCALES]]] : tensor<512x32x16xi8>, tensor<512x32xf16> -> tensor<512x1024xf16>
// CHECK: ^bb0(%{{.*}}: i8, %{{.*}}: f16, %{{.*}}: index, %[[K:.*]]: index):
// CHECK: affine.apply #[[PART]](%[[K]])
// CHECK: tile.decoded
// CHECK: tile.contract a(%[[X]] : {{.*}}) b(%[[B]] : {{.*}} a: ring shared at {{[0-9]}} slots {{[0-9]}} by cp.async {{.*}} b: ring shared at {{[0-9]}} slots {{[0-9]}} by lanes
// CHECK-NOT: linalg.generic
func.func @few(%x: tensor<64x1024xf16>, %w: tensor<512x32x16xi8>, %s: tensor<512x32xf16>) -> tensor<64x512xf16> {
  %c4 = arith.constant 4 : i32
  %c15 = arith.constant 15 : i32
  %c8 = arith.constant 8.0 : f32
  %e = tensor.empty() : tensor<512x32x2x16xf16>
  %all = linalg.generic {
    indexing_maps = [affine_map<(n, b, p, i) -> (n, b, i)>, affine_map<(n, b, p, i) -> (n, b)>, affine_map<(n, b, p, i) -> (n, b, p, i)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%w, %s : tensor<512x32x16xi8>, tensor<512x32xf16>) outs(%e : tensor<512x32x2x16xf16>) {
  ^bb0(%byte: i8, %scale: f16, %o: f16):
    %p = linalg.index 2 : index
    %i = arith.index_cast %p : index to i32
    %bits = arith.muli %i, %c4 : i32
    %word = arith.extui %byte : i8 to i32
    %shifted = arith.shrui %word, %bits : i32
    %code = arith.andi %shifted, %c15 : i32
    %number = arith.uitofp %code : i32 to f32
    %offset = arith.subf %number, %c8 : f32
    %wide = arith.extf %scale : f16 to f32
    %product = arith.mulf %offset, %wide : f32
    %z = arith.truncf %product : f32 to f16
    linalg.yield %z : f16
  } -> tensor<512x32x2x16xf16>
  %b = tensor.collapse_shape %all [[0], [1, 2, 3]] : tensor<512x32x2x16xf16> into tensor<512x1024xf16>
  %d = tensor.empty() : tensor<64x512xf16>
  %y = tile.contract a(%x : tensor<64x1024xf16>) b(%b : tensor<512x1024xf16>) outs(%d : tensor<64x512xf16>) attributes {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n) -> (m, n)>],
    parallel = array<i64: 64, 512>, reduced = array<i64: 1024>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to f16
    tile.yield %z : f16
  } -> tensor<64x512xf16>
  return %y : tensor<64x512xf16>
}

// -----

// So many rows that each weight would be computed a hundred times: a kernel in
// front does it once.
// CHECK-LABEL: func.func @many
// CHECK: linalg.generic
// CHECK-NOT: tile.decode
// CHECK: tile.contract
func.func @many(%x: tensor<16384x4096xf16>, %w: tensor<4096x4096xi8>) -> tensor<16384x4096xf16> {
  %e = tensor.empty() : tensor<4096x4096xf16>
  %b = linalg.generic {
    indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<4096x4096xi8>) outs(%e : tensor<4096x4096xf16>) {
  ^bb0(%code: i8, %o: f16):
    %word = arith.extui %code : i8 to i32
    %number = arith.uitofp %word : i32 to f32
    %half = arith.mulf %number, %number : f32
    %more = arith.addf %half, %number : f32
    %product = arith.mulf %more, %number : f32
    %z = arith.truncf %product : f32 to f16
    linalg.yield %z : f16
  } -> tensor<4096x4096xf16>
  %d = tensor.empty() : tensor<16384x4096xf16>
  %y = tile.contract a(%x : tensor<16384x4096xf16>) b(%b : tensor<4096x4096xf16>) outs(%d : tensor<16384x4096xf16>) attributes {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n) -> (m, n)>],
    parallel = array<i64: 16384, 4096>, reduced = array<i64: 4096>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to f16
    tile.yield %z : f16
  } -> tensor<16384x4096xf16>
  return %y : tensor<16384x4096xf16>
}

// -----

// Others read the matrix as well: it is there anyway.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: tile.decode
func.func @shared(%x: tensor<64x1024xf16>, %w: tensor<512x1024xi8>) -> (tensor<64x512xf16>, tensor<512x1024xf32>) {
  %e = tensor.empty() : tensor<512x1024xf32>
  %b = linalg.generic {
    indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<512x1024xi8>) outs(%e : tensor<512x1024xf32>) {
  ^bb0(%code: i8, %o: f32):
    %z = arith.sitofp %code : i8 to f32
    linalg.yield %z : f32
  } -> tensor<512x1024xf32>
  %d = tensor.empty() : tensor<64x512xf16>
  %y = tile.contract a(%x : tensor<64x1024xf16>) b(%b : tensor<512x1024xf32>) outs(%d : tensor<64x512xf16>) attributes {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n) -> (m, n)>],
    parallel = array<i64: 64, 512>, reduced = array<i64: 1024>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to f16
    tile.yield %z : f16
  } -> tensor<64x512xf16>
  return %y, %b : tensor<64x512xf16>, tensor<512x1024xf32>
}

// -----

// Terms are shared out among parts as well, each of which computes its own;
// nothing is left of the op in front.
// CHECK-LABEL: func.func @split
// SPLIT-NOT: linalg.generic
// SPLIT: tile.decode %{{.*}}, %{{.*}} maps {{.*}} : tensor<4096x128x16xi8>, tensor<4096x128xf16> -> tensor<4096x{{[0-9]+}}x{{[0-9]+}}xf16>
// CHECK: tile.contract {{.*}} b: ring shared at 1 slots {{[0-9]}} by lanes
func.func @split(%x: tensor<16x4096xf16>, %w: tensor<4096x128x16xi8>, %s: tensor<4096x128xf16>) -> tensor<16x4096xf16> {
  %c4 = arith.constant 4 : i32
  %c15 = arith.constant 15 : i32
  %c8 = arith.constant 8.0 : f32
  %e = tensor.empty() : tensor<4096x128x2x16xf16>
  %all = linalg.generic {
    indexing_maps = [affine_map<(n, b, p, i) -> (n, b, i)>, affine_map<(n, b, p, i) -> (n, b)>, affine_map<(n, b, p, i) -> (n, b, p, i)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%w, %s : tensor<4096x128x16xi8>, tensor<4096x128xf16>) outs(%e : tensor<4096x128x2x16xf16>) {
  ^bb0(%byte: i8, %scale: f16, %o: f16):
    %p = linalg.index 2 : index
    %i = arith.index_cast %p : index to i32
    %bits = arith.muli %i, %c4 : i32
    %word = arith.extui %byte : i8 to i32
    %shifted = arith.shrui %word, %bits : i32
    %code = arith.andi %shifted, %c15 : i32
    %number = arith.uitofp %code : i32 to f32
    %offset = arith.subf %number, %c8 : f32
    %wide = arith.extf %scale : f16 to f32
    %product = arith.mulf %offset, %wide : f32
    %z = arith.truncf %product : f32 to f16
    linalg.yield %z : f16
  } -> tensor<4096x128x2x16xf16>
  %b = tensor.collapse_shape %all [[0], [1, 2, 3]] : tensor<4096x128x2x16xf16> into tensor<4096x4096xf16>
  %d = tensor.empty() : tensor<16x4096xf16>
  %y = tile.contract a(%x : tensor<16x4096xf16>) b(%b : tensor<4096x4096xf16>) outs(%d : tensor<16x4096xf16>) attributes {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n) -> (m, n)>],
    parallel = array<i64: 16, 4096>, reduced = array<i64: 4096>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to f16
    tile.yield %z : f16
  } -> tensor<16x4096xf16>
  return %y : tensor<16x4096xf16>
}

// -----

// Rows that are looked up in a table: it is no number, and stays outside.
// CHECK-LABEL: func.func @table
// CHECK: linalg.generic
// CHECK-NOT: tile.decode
func.func @table(%i: tensor<16xi64>, %w: tensor<512x1024xf16>) -> tensor<16x512xf16> {
  %table = arith.constant dense_resource<rows> : tensor<160x1024xf16>
  %e = tensor.empty() : tensor<16x1024xf16>
  %x = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%i : tensor<16xi64>) outs(%e : tensor<16x1024xf16>) {
  ^bb0(%row: i64, %o: f16):
    %r = arith.index_cast %row : i64 to index
    %c = linalg.index 1 : index
    %number = tensor.extract %table[%r, %c] : tensor<160x1024xf16>
    linalg.yield %number : f16
  } -> tensor<16x1024xf16>
  %d = tensor.empty() : tensor<16x512xf16>
  %y = tile.contract a(%x : tensor<16x1024xf16>) b(%w : tensor<512x1024xf16>) outs(%d : tensor<16x512xf16>) attributes {
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n) -> (m, n)>],
    parallel = array<i64: 16, 512>, reduced = array<i64: 1024>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to f16
    tile.yield %z : f16
  } -> tensor<16x512xf16>
  return %y : tensor<16x512xf16>
}

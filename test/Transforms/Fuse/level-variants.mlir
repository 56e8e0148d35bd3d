// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_90a --canonicalize | FileCheck %s
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_80 --canonicalize | FileCheck %s --check-prefix=WARPS
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=opencl:subgroups --canonicalize | FileCheck %s --check-prefix=NONE

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>

// Rows of 2222 and 1554 bytes: both operands go through a copy whose rows begin
// at multiples of 16 bytes; nobody reads what stands behind their ends. Sizes of
// the product stay.
// CHECK-LABEL: func.func @odd
// CHECK-SAME: (%[[X:.*]]: tensor<333x1111xbf16>, %[[W:.*]]: tensor<1111x777xbf16>)
// CHECK-DAG: %[[EX:.*]] = tensor.empty() : tensor<333x1112xbf16>
// CHECK-DAG: %[[A:.*]] = tensor.insert_slice %[[X]] into %[[EX]][0, 0] [333, 1111] [1, 1]
// CHECK-DAG: %[[EW:.*]] = tensor.empty() : tensor<1111x784xbf16>
// CHECK-DAG: %[[B:.*]] = tensor.insert_slice %[[W]] into %[[EW]][0, 0] [1111, 777] [1, 1]
// CHECK: tile.contract a(%[[A]] : {{.*}}) b(%[[B]] : {{.*}}parallel = array<i64: 333, 777>, reduced = array<i64: 1111>, strategy = {{.*}} by tma
// WARPS-LABEL: func.func @odd
// WARPS: tensor.insert_slice
// WARPS: tensor.insert_slice
// WARPS: tile.contract {{.*}} by cp.async
// No engine of that machine goes on by itself.
// NONE-LABEL: func.func @odd
// NONE-NOT: tensor.insert_slice
func.func @odd(%x: tensor<333x1111xbf16>, %w: tensor<1111x777xbf16>) -> tensor<333x777xbf16> {
  %e = tensor.empty() : tensor<333x777xbf16>
  %y = tile.contract a(%x : tensor<333x1111xbf16>) b(%w : tensor<1111x777xbf16>) outs(%e : tensor<333x777xbf16>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 333, 777>, reduced = array<i64: 1111>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<333x777xbf16>
  return %y : tensor<333x777xbf16>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>

// A constant is stored with such rows.
// CHECK-LABEL: func.func @constant
// CHECK-DAG: %[[W:.*]] = tile.pack %{{.*}} : tensor<1020x1023xbf16> to tensor<1x1023x1024xbf16>
// CHECK-DAG: tensor.insert_slice {{.*}} : tensor<2048x1023xbf16> into tensor<2048x1024xbf16>
// CHECK: tile.contract {{.*}} b(%[[W]]
func.func @constant(%x: tensor<2048x1023xbf16>) -> tensor<2048x1020xbf16> {
  %w = arith.constant dense<1.0> : tensor<1020x1023xbf16>
  %e = tensor.empty() : tensor<2048x1020xbf16>
  %y = tile.contract a(%x : tensor<2048x1023xbf16>) b(%w : tensor<1020x1023xbf16>) outs(%e : tensor<2048x1020xbf16>) attributes {
    maps = [#mk, #nk, #mn], parallel = array<i64: 2048, 1020>, reduced = array<i64: 1023>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<2048x1020xbf16>
  return %y : tensor<2048x1020xbf16>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

// Two tiles for all of the machine: terms are shared out, and what followed the
// sums follows the sum of all parts, which are added in their order.
// CHECK-LABEL: func.func @few
// CHECK-SAME: (%[[X:.*]]: tensor<64x16384xbf16>, %[[W:.*]]: tensor<16384x128xbf16>, %[[P:.*]]: tensor<128xbf16>)
// CHECK-DAG: %[[A:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [64, 16, 1024]
// CHECK-DAG: %[[B:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2]] output_shape [16, 1024, 128]
// CHECK: %[[S:.*]] = tile.contract a(%[[A]] : {{.*}}) b(%[[B]] : {{.*}}parallel = array<i64: 16, 64, 128>, reduced = array<i64: 1024>
// CHECK: tensor<16x64x128xf32>
// CHECK: linalg.generic {indexing_maps = [#[[FIRST:.*]], #[[SECOND:[^,]*]], {{.*}} ins(%[[S]], %[[S]], {{.*}}, %[[P]] :
// CHECK: ^bb0(%[[P0:[^:]*]]: f32, %[[P1:[^:]*]]: f32, %[[P2:[^:]*]]: f32,
// CHECK: %[[S1:.*]] = arith.addf %[[P0]], %[[P1]]
// CHECK: arith.addf %[[S1]], %[[P2]]
// CHECK: arith.extf
// CHECK: arith.truncf
// Every machine of threads shares terms out.
// NONE-LABEL: func.func @few
// NONE: tile.contract {{.*}} parallel = array<i64: 16, 64, 128>, reduced = array<i64: 1024>
func.func @few(%x: tensor<64x16384xbf16>, %w: tensor<16384x128xbf16>, %p: tensor<128xbf16>) -> tensor<64x128xbf16> {
  %e = tensor.empty() : tensor<64x128xbf16>
  %y = tile.contract a(%x : tensor<64x16384xbf16>) b(%w : tensor<16384x128xbf16>) epilogue(%p : tensor<128xbf16>) outs(%e : tensor<64x128xbf16>) attributes {
    maps = [#mk, #kn, #n, #mn], parallel = array<i64: 64, 128>, reduced = array<i64: 16384>} {
  ^bb0(%s: f32, %q: bf16):
    %z = arith.extf %q : bf16 to f32
    %t = arith.addf %s, %z : f32
    %u = arith.truncf %t : f32 to bf16
    tile.yield %u : bf16
  } -> tensor<64x128xbf16>
  return %y : tensor<64x128xbf16>
}

// -----

#hwo = affine_map<(n, h, w, o) -> (n, h, w, o)>
#window = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#taps = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>

// Rows of a window's taps are such parts as they are.
// CHECK-LABEL: func.func @window
// CHECK: tile.contract {{.*}} maps = [#[[A:.*]], #[[B:.*]], #{{.*}}], parallel = array<i64: 3, 1, 7, 7, 512>, reduced = array<i64: 3, 512>
func.func @window(%x: tensor<1x9x9x512xbf16>, %w: tensor<3x3x512x512xbf16>) -> tensor<1x7x7x512xbf16> {
  %e = tensor.empty() : tensor<1x7x7x512xbf16>
  %y = tile.contract a(%x : tensor<1x9x9x512xbf16>) b(%w : tensor<3x3x512x512xbf16>) outs(%e : tensor<1x7x7x512xbf16>) attributes {
    maps = [#window, #taps, #hwo], parallel = array<i64: 1, 7, 7, 512>, reduced = array<i64: 3, 3, 512>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<1x7x7x512xbf16>
  return %y : tensor<1x7x7x512xbf16>
}

// -----

#hwo = affine_map<(n, h, w, o) -> (n, h, w, o)>
#window = affine_map<(n, h, w, o, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>
#taps = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>

// What pads an operand pads its rows, too.
// CHECK-LABEL: func.func @padded
// CHECK: %[[X:.*]] = tensor.pad %{{.*}} low[0, 3, 3, 0] high[0, 3, 3, 5]
// CHECK: tensor<16x224x224x3xbf16> to tensor<16x230x230x8xbf16>
// CHECK-NOT: tensor.insert_slice
// CHECK: tile.contract a(%[[X]]
func.func @padded(%x: tensor<16x224x224x3xbf16>, %w: tensor<7x7x3x64xbf16>) -> tensor<16x112x112x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 3, 3, 0] high[0, 3, 3, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<16x224x224x3xbf16> to tensor<16x230x230x3xbf16>
  %e = tensor.empty() : tensor<16x112x112x64xbf16>
  %y = tile.contract a(%p : tensor<16x230x230x3xbf16>) b(%w : tensor<7x7x3x64xbf16>) outs(%e : tensor<16x112x112x64xbf16>) attributes {
    maps = [#window, #taps, #hwo], parallel = array<i64: 16, 112, 112, 64>, reduced = array<i64: 7, 7, 3>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<16x112x112x64xbf16>
  return %y : tensor<16x112x112x64xbf16>
}

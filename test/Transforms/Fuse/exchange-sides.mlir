// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_90a --canonicalize | FileCheck %s
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_80 --canonicalize | FileCheck %s --check-prefix=WARPS
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=opencl:subgroups --canonicalize | FileCheck %s --check-prefix=NONE

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

// Eight rows leave most of a unit's 64, or 16, empty: the weights' columns take
// them, and rows are the columns, of which a step has eight. Operands keep their
// places in memory, and so do the epilogue's and the result.
// CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[N:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @few
// CHECK-SAME: (%[[X:.*]]: tensor<8x1024xbf16>, %[[W:.*]]: tensor<32768x1024xbf16>, %[[P:.*]]: tensor<32768xbf16>)
// CHECK: tile.contract a(%[[W]] : {{.*}}) b(%[[X]] : {{.*}}) epilogue(%[[P]] : {{.*}} maps = [#[[NK]], #[[MK]], #[[N]], #[[MN]]], parallel = array<i64: 32768, 8>, reduced = array<i64: 1024>
// WARPS-LABEL: func.func @few
// WARPS: tile.contract {{.*}} parallel = array<i64: 32768, 8>
// Its units have one row.
// NONE-LABEL: func.func @few
// NONE: tile.contract {{.*}} parallel = array<i64: 8, 32768>
func.func @few(%x: tensor<8x1024xbf16>, %w: tensor<32768x1024xbf16>, %p: tensor<32768xbf16>) -> tensor<8x32768xbf16> {
  %e = tensor.empty() : tensor<8x32768xbf16>
  %y = tile.contract a(%x : tensor<8x1024xbf16>) b(%w : tensor<32768x1024xbf16>) epilogue(%p : tensor<32768xbf16>) outs(%e : tensor<8x32768xbf16>) attributes {
    maps = [#mk, #nk, #n, #mn], parallel = array<i64: 8, 32768>, reduced = array<i64: 1024>} {
  ^bb0(%s: f32, %q: bf16):
    %z = arith.extf %q : bf16 to f32
    %t = arith.addf %s, %z : f32
    %u = arith.truncf %t : f32 to bf16
    tile.yield %u : bf16
  } -> tensor<8x32768xbf16>
  return %y : tensor<8x32768xbf16>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>

// Few tiles besides: terms are shared out as well.
// CHECK-LABEL: func.func @split
// CHECK: tile.contract {{.*}} parallel = array<i64: {{[0-9]+}}, 1024, 1>
// CHECK: linalg.generic
// WARPS-LABEL: func.func @split
// WARPS: tile.contract {{.*}} parallel = array<i64: {{[0-9]+}}, 1024, 1>
func.func @split(%x: tensor<1x16384xbf16>, %w: tensor<16384x1024xbf16>) -> tensor<1x1024xbf16> {
  %e = tensor.empty() : tensor<1x1024xbf16>
  %y = tile.contract a(%x : tensor<1x16384xbf16>) b(%w : tensor<16384x1024xbf16>) outs(%e : tensor<1x1024xbf16>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 1, 1024>, reduced = array<i64: 16384>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<1x1024xbf16>
  return %y : tensor<1x1024xbf16>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>

// Rows enough stay rows.
// CHECK-LABEL: func.func @many
// CHECK: tile.contract {{.*}} parallel = array<i64: 64, 4096>
func.func @many(%x: tensor<64x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<64x4096xbf16> {
  %e = tensor.empty() : tensor<64x4096xbf16>
  %y = tile.contract a(%x : tensor<64x4096xbf16>) b(%w : tensor<4096x4096xbf16>) outs(%e : tensor<64x4096xbf16>) attributes {
    maps = [#mk, #kn, #mn], parallel = array<i64: 64, 4096>, reduced = array<i64: 4096>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<64x4096xbf16>
  return %y : tensor<64x4096xbf16>
}

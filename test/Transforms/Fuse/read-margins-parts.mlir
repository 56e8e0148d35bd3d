// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-read-margins=machine=cuda:sm_90a --ashlar-choose-strategies=machine=cuda:sm_90a --canonicalize | FileCheck %s

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// Terms that are shared out are those of the tensor as well.
// CHECK-LABEL: func.func @parts
// CHECK: %[[P:.*]] = tile.decode {{.*}} padded : tensor<1x7x7x{{.*}} -> tensor<1x9x9x
// CHECK: tile.contract a(%[[P]] : {{.*}} by tma
// CHECK: linalg.generic
// CHECK: arith.addf
func.func @parts(%x: tensor<1x7x7x512xbf16>, %w: tensor<3x3x512x512xbf16>) -> tensor<1x7x7x512xbf16> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<1x7x7x512xbf16> to tensor<1x9x9x512xbf16>
  %e = tensor.empty() : tensor<1x7x7x512xbf16>
  %y = tile.contract a(%p : tensor<1x9x9x512xbf16>) b(%w : tensor<3x3x512x512xbf16>) outs(%e : tensor<1x7x7x512xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 1, 7, 7, 512>, reduced = array<i64: 3, 3, 512>} {
  ^bb0(%t: f32):
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<1x7x7x512xbf16>
  return %y : tensor<1x7x7x512xbf16>
}

// -----

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r * 2, w + s * 2, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// A tile has one place of a window: that these lie apart is no matter.
// CHECK-LABEL: func.func @apart
// CHECK: %[[P:.*]] = tile.decode {{.*}} padded : tensor<4x28x28x128xbf16> -> tensor<4x32x32x128xbf16>
// CHECK: tile.contract a(%[[P]] : {{.*}}#tile.strategy<"wgmma" {{.*}} by tma
func.func @apart(%x: tensor<4x28x28x128xbf16>, %w: tensor<3x3x128x256xbf16>) -> tensor<4x28x28x256xbf16> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<4x28x28x128xbf16> to tensor<4x32x32x128xbf16>
  %e = tensor.empty() : tensor<4x28x28x256xbf16>
  %y = tile.contract a(%p : tensor<4x32x32x128xbf16>) b(%w : tensor<3x3x128x256xbf16>) outs(%e : tensor<4x28x28x256xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 4, 28, 28, 256>, reduced = array<i64: 3, 3, 128>} {
  ^bb0(%t: f32):
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<4x28x28x256xbf16>
  return %y : tensor<4x28x28x256xbf16>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n) -> (m, n)>
#same = affine_map<(n, k) -> (n, k)>

// What threads compute has no margins: its terms may be shared out as others'.
// CHECK-LABEL: func.func @computed
// CHECK: tile.decode
// CHECK: tile.contract
func.func @computed(%x: tensor<16x4096xbf16>, %w: tensor<64x4096xi8>) -> tensor<16x64xbf16> {
  %d = tile.decode %w maps [#same] : tensor<64x4096xi8> -> tensor<64x4096xbf16> {
  ^bb0(%q: i8, %i: index, %j: index):
    %f = arith.sitofp %q : i8 to bf16
    tile.decoded %f : bf16
  }
  %e = tensor.empty() : tensor<16x64xbf16>
  %y = tile.contract a(%x : tensor<16x4096xbf16>) b(%d : tensor<64x4096xbf16>) outs(%e : tensor<16x64xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 16, 64>, reduced = array<i64: 4096>} {
  ^bb0(%t: f32):
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<16x64xbf16>
  return %y : tensor<16x64xbf16>
}

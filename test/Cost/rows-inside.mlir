// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit that reads rows side by side takes a contraction only where as many of
// them lie so: 16 bytes for mma, a step's 64 for wgmma. Of images of 4x4, no
// unit does; of rows of 64, both.
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: ashlar-opt %s --split-input-file --ashlar-choose-strategies=machine=cuda:sm_90a | FileCheck %s --check-prefixes=CHECK,SM90

#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (n, k)>
#c = affine_map<(b, m, n) -> (b, m, n)>
// CHECK-LABEL: func.func @small
// CHECK: strategy = #tile.strategy<"lanes-f32"
func.func @small(%a: memref<4096x512x4xf16>, %b: memref<512x512xf16>, %c: memref<4096x4x512xf32>) {
  tile.contract a(%a : memref<4096x512x4xf16>) b(%b : memref<512x512xf16>) outs(%c : memref<4096x4x512xf32>) attributes {
    parallel = array<i64: 4096, 4, 512>, reduced = array<i64: 512>, maps = [#a, #b, #c]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (n, k)>
#c = affine_map<(b, m, n) -> (b, m, n)>
// CHECK-LABEL: func.func @large
// SM80: strategy = #tile.strategy<"mma"
// SM90: strategy = #tile.strategy<"{{w?g?}}mma"
func.func @large(%a: memref<256x512x64xf16>, %b: memref<512x512xf16>, %c: memref<256x64x512xf32>) {
  tile.contract a(%a : memref<256x512x64xf16>) b(%b : memref<512x512xf16>) outs(%c : memref<256x64x512xf32>) attributes {
    parallel = array<i64: 256, 64, 512>, reduced = array<i64: 512>, maps = [#a, #b, #c]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

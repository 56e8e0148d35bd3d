// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is chosen for each machine is right: products of odd sizes, in batches,
// a convolution in steps of two, one of single channels, interpreted as levels
// 1 and 3, as it is expanded and in roles.
// RUN: bash %S/interpret.sh ashlar-opt %s %S/../Machines/sm_90a.json
// RUN: bash %S/interpret.sh ashlar-opt %s %S/../Machines/gfx942.json
// RUN: bash %S/interpret.sh ashlar-opt %s %S/../Machines/opencl-gpu.json
// RUN: bash %S/interpret.sh ashlar-opt %s %S/../Machines/array-128.json
// RUN: bash %S/interpret.sh ashlar-opt %s cpu:x86-64-v4
// RUN: bash %S/interpret.sh ashlar-opt %s cpu:sapphirerapids
// RUN: bash %S/interpret.sh ashlar-opt %s cpu:aarch64

func.func @product(%a: memref<37x45xf32>, %b: memref<45x53xf32>, %bias: memref<53xf32>, %c: memref<37x53xf32>) {
  tile.contract a(%a : memref<37x45xf32>) b(%b : memref<45x53xf32>) epilogue(%bias : memref<53xf32>) outs(%c : memref<37x53xf32>) attributes {
    parallel = array<i64: 37, 53>, reduced = array<i64: 45>,
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%s: f32, %p: f32):
    %y = arith.addf %s, %p : f32
    tile.yield %y : f32
  }
  return
}
func.func @halves(%a: memref<70x20xbf16>, %b: memref<40x20xbf16>, %c: memref<70x40xf32>) {
  tile.contract a(%a : memref<70x20xbf16>) b(%b : memref<40x20xbf16>) outs(%c : memref<70x40xf32>) attributes {
    parallel = array<i64: 70, 40>, reduced = array<i64: 20>,
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}
func.func @batches(%a: memref<3x17x20xf32>, %b: memref<3x20x9xf32>, %c: memref<3x17x9xf32>) {
  tile.contract a(%a : memref<3x17x20xf32>) b(%b : memref<3x20x9xf32>) outs(%c : memref<3x17x9xf32>) attributes {
    parallel = array<i64: 3, 17, 9>, reduced = array<i64: 20>,
    maps = [affine_map<(g, m, n, k) -> (g, m, k)>, affine_map<(g, m, n, k) -> (g, k, n)>, affine_map<(g, m, n) -> (g, m, n)>]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}
func.func @convolution(%a: memref<1x15x13x12xf32>, %b: memref<3x3x12x20xf32>, %c: memref<1x7x6x20xf32>) {
  tile.contract a(%a : memref<1x15x13x12xf32>) b(%b : memref<3x3x12x20xf32>) outs(%c : memref<1x7x6x20xf32>) attributes {
    parallel = array<i64: 1, 7, 6, 20>, reduced = array<i64: 3, 3, 12>,
    maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>, affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>,
            affine_map<(n, h, w, o) -> (n, h, w, o)>]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}
func.func @depthwise(%a: memref<9x9x21xf32>, %b: memref<3x3x21xf32>, %c: memref<7x7x21xf32>) {
  tile.contract a(%a : memref<9x9x21xf32>) b(%b : memref<3x3x21xf32>) outs(%c : memref<7x7x21xf32>) attributes {
    parallel = array<i64: 7, 7, 21>, reduced = array<i64: 3, 3>,
    maps = [affine_map<(h, w, c, r, s) -> (h + r, w + s, c)>, affine_map<(h, w, c, r, s) -> (r, s, c)>, affine_map<(h, w, c) -> (h, w, c)>]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s '--ashlar-join-kernels=devices=1 chip-bytes=8192' | FileCheck %s
// RUN: ashlar-opt %s '--ashlar-join-kernels=devices=1 chip-bytes=1048576' | FileCheck %s --check-prefix=WHOLE

#a = affine_map<(i, m, n, k) -> (i, m, k)>
#b = affine_map<(i, m, n, k) -> (k, n)>
#c = affine_map<(i, m, n) -> (i, m, n)>

// Four images of 2 KiB each in and out do not fit into five eighths of
// 8 KiB, one does: the chain is computed for each of them, one after the other, and an
// image's value lies where that of the image before it lay.
// CHECK-LABEL: func.func private @product_and_1(
// CHECK-SAME: memref<4x64x16xbf16>, {{.*}}memref<16x16xbf16>, {{.*}}memref<4x64x16xbf16>, {{.*}}memref<2048xi8> {exec.inner}
// CHECK-SAME: exec.flops = #exec.size<80>
// CHECK-COUNT-8: parallel = array<i64: 1, 64, 16>
// CHECK-NOT: tile.contract
// CHECK: return

// In a megabyte they do.
// WHOLE-LABEL: func.func private @product_and_1(
// WHOLE-COUNT-2: parallel = array<i64: 4, 64, 16>
// WHOLE-NOT: tile.contract
// WHOLE: return
func.func @images(%x: tensor<4x64x16xbf16>, %w: tensor<16x16xbf16>) -> tensor<4x64x16xbf16> {
  %0 = exec.invoke @product(%x, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> tensor<4x64x16xbf16>
  %1 = exec.invoke @product(%0, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> tensor<4x64x16xbf16>
  return %1 : tensor<4x64x16xbf16>
}
func.func private @product(%a: memref<4x64x16xbf16>, %b: memref<16x16xbf16>, %c: memref<4x64x16xbf16>, %s: memref<0xi8>, %begin: index, %end: index)
    attributes {exec.device = 1 : i64, exec.flops = #exec.size<40>, exec.groups = #exec.size<1>, exec.nodes = ["one"], exec.results = 1 : i64, exec.scratch_bytes = 0 : i64} {
  tile.contract a(%a : memref<4x64x16xbf16>) b(%b : memref<16x16xbf16>) outs(%c : memref<4x64x16xbf16>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 4, 64, 16>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// What is stored unrounded, too, comes in the same parts.
// CHECK-LABEL: func.func private @both_and_1(
// CHECK-COUNT-8: unrounded({{.*}} : memref<1x64x16xf32
// CHECK: return
func.func @unrounded(%x: tensor<4x64x16xbf16>, %w: tensor<16x16xbf16>)
    -> (tensor<4x64x16xbf16>, tensor<4x64x16xf32>, tensor<4x64x16xf32>) {
  %0:2 = exec.invoke @both(%x, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> (tensor<4x64x16xbf16>, tensor<4x64x16xf32>)
  %1:2 = exec.invoke @both(%0#0, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> (tensor<4x64x16xbf16>, tensor<4x64x16xf32>)
  return %1#0, %1#1, %0#1 : tensor<4x64x16xbf16>, tensor<4x64x16xf32>, tensor<4x64x16xf32>
}
func.func private @both(%a: memref<4x64x16xbf16>, %b: memref<16x16xbf16>, %c: memref<4x64x16xbf16>, %d: memref<4x64x16xf32>, %s: memref<0xi8>, %begin: index, %end: index)
    attributes {exec.device = 1 : i64, exec.flops = #exec.size<40>, exec.groups = #exec.size<1>, exec.nodes = ["two"], exec.results = 2 : i64, exec.scratch_bytes = 0 : i64} {
  tile.contract a(%a : memref<4x64x16xbf16>) b(%b : memref<16x16xbf16>) outs(%c : memref<4x64x16xbf16>) unrounded(%d : memref<4x64x16xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 4, 64, 16>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

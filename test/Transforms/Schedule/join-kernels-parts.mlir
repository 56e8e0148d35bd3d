// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s '--ashlar-join-kernels=devices=1 chip-bytes=8192' | FileCheck %s
// RUN: ashlar-opt %s '--ashlar-join-kernels=devices=1 chip-bytes=1048576' | FileCheck %s --check-prefix=WHOLE

#a = affine_map<(i, m, n, k) -> (i, m, k)>
#b = affine_map<(i, m, n, k) -> (k, n)>
#c = affine_map<(i, m, n) -> (i, m, n)>

// Four images of 2 KiB each in and out do not fit into five eighths of
// 8 KiB, one does: the chain is computed for each of them, one after the other, and an
// image's value lies where that of the image before it lay.
// CHECK-LABEL: exec.kernel @product_and_1 calls
// CHECK-SAME: flops = #exec.size<80>
// CHECK: func.func private @product_and_1_body(
// CHECK-SAME: memref<4x64x16xbf16>, {{.*}}memref<16x16xbf16>, {{.*}}memref<4x64x16xbf16>, {{.*}}memref<2048xi8> {exec.inner}
// CHECK-COUNT-8: parallel = array<i64: 1, 64, 16>
// CHECK-NOT: tile.contract
// CHECK: return

// In a megabyte they do.
// WHOLE-LABEL: func.func private @product_and_1_body(
// WHOLE-COUNT-2: parallel = array<i64: 4, 64, 16>
// WHOLE-NOT: tile.contract
// WHOLE: return
func.func @images(%x: tensor<4x64x16xbf16>, %w: tensor<16x16xbf16>) -> tensor<4x64x16xbf16> {
  %0 = exec.invoke @product(%x, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> tensor<4x64x16xbf16>
  %1 = exec.invoke @product(%0, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> tensor<4x64x16xbf16>
  return %1 : tensor<4x64x16xbf16>
}
exec.kernel @product calls @product_body : (memref<4x64x16xbf16>, memref<16x16xbf16>) -> memref<4x64x16xbf16>
    device 1 grid [#exec.size<1>] scratch 0 {nodes = ["one"], flops = #exec.size<40>}
func.func private @product_body(%a: memref<4x64x16xbf16>, %b: memref<16x16xbf16>, %c: memref<4x64x16xbf16>, %s: memref<0xi8>, %begin: index, %end: index) {
  tile.contract a(%a : memref<4x64x16xbf16>) b(%b : memref<16x16xbf16>) outs(%c : memref<4x64x16xbf16>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 4, 64, 16>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// What is stored unrounded, too, comes in the same parts.
// CHECK-LABEL: func.func private @both_and_1_body(
// CHECK-COUNT-8: unrounded({{.*}} : memref<1x64x16xf32
// CHECK: return
func.func @unrounded(%x: tensor<4x64x16xbf16>, %w: tensor<16x16xbf16>)
    -> (tensor<4x64x16xbf16>, tensor<4x64x16xf32>, tensor<4x64x16xf32>) {
  %0:2 = exec.invoke @both(%x, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> (tensor<4x64x16xbf16>, tensor<4x64x16xf32>)
  %1:2 = exec.invoke @both(%0#0, %w) : (tensor<4x64x16xbf16>, tensor<16x16xbf16>) -> (tensor<4x64x16xbf16>, tensor<4x64x16xf32>)
  return %1#0, %1#1, %0#1 : tensor<4x64x16xbf16>, tensor<4x64x16xf32>, tensor<4x64x16xf32>
}
exec.kernel @both calls @both_body : (memref<4x64x16xbf16>, memref<16x16xbf16>) -> (memref<4x64x16xbf16>, memref<4x64x16xf32>)
    device 1 grid [#exec.size<1>] scratch 0 {nodes = ["two"], flops = #exec.size<40>}
func.func private @both_body(%a: memref<4x64x16xbf16>, %b: memref<16x16xbf16>, %c: memref<4x64x16xbf16>, %d: memref<4x64x16xf32>, %s: memref<0xi8>, %begin: index, %end: index) {
  tile.contract a(%a : memref<4x64x16xbf16>) b(%b : memref<16x16xbf16>) outs(%c : memref<4x64x16xbf16>) unrounded(%d : memref<4x64x16xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 4, 64, 16>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

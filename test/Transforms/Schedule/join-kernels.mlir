// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-join-kernels=devices=1 --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// What only later members read becomes bytes that they share; a view of it is
// one more offset. What others read stays a result, and they run behind.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[Y:.*]]:2 = exec.invoke @product_and_2(%arg0, %arg1) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<16384xi8>)
// CHECK-NEXT: %[[Z:.*]] = exec.transfer %[[Y]]#0 to 0
// CHECK-NEXT: return %[[Z]]
// CHECK-NOT: @product_body(
// CHECK: exec.kernel @product_and_2 calls @product_and_2_body : (memref<64x64xbf16>, memref<64x64xbf16>) -> (memref<64x64xbf16>, memref<16384xi8>) device 1 grid [#exec.size<1>] scratch 0
// CHECK-SAME: {flops = #exec.size<30>, nodes = ["one"]}
// CHECK-NEXT: func.func private @product_and_2_body(%[[A:.*]]: memref<64x64xbf16>, %[[B:.*]]: memref<64x64xbf16>, %[[R:.*]]: memref<64x64xbf16>, %[[S:.*]]: memref<16384xi8> {exec.inner}, %{{.*}}: memref<0xi8>, %{{.*}}: index, %{{.*}}: index)
// CHECK: %[[V0:.*]] = memref.view %[[S]][%{{.*}}][] : memref<16384xi8> to memref<64x64xbf16>
// CHECK: tile.contract a(%[[A]] : {{.*}}) b(%[[B]] : {{.*}}) outs(%[[V0]]
// CHECK: %[[V1:.*]] = memref.view %[[S]]
// CHECK: %[[V2:.*]] = memref.view %[[S]]
// CHECK: tile.contract a(%[[V1]] : {{.*}}) b(%[[B]] : {{.*}}) outs(%[[V2]]
// CHECK: tile.contract a({{.*}}) b(%[[B]] : {{.*}}) outs(%[[R]]
func.func @chain(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = exec.invoke @product(%x, %w) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = exec.invoke @product(%0, %w) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %v = tensor.expand_shape %1 [[0, 1], [2]] output_shape [1, 64, 64] : tensor<64x64xbf16> into tensor<1x64x64xbf16>
  %u = tensor.collapse_shape %v [[0, 1], [2]] : tensor<1x64x64xbf16> into tensor<64x64xbf16>
  %2 = exec.invoke @product(%u, %w) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %3 = exec.transfer %2 to 0 : tensor<64x64xbf16>
  return %3 : tensor<64x64xbf16>
}
exec.kernel @product calls @product_body : (memref<64x64xbf16>, memref<64x64xbf16>) -> memref<64x64xbf16>
    device 1 grid [#exec.size<1>] scratch 0 {nodes = ["one"], flops = #exec.size<10>}
func.func private @product_body(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xbf16>, %s: memref<0xi8>, %begin: index, %end: index) {
  tile.contract a(%a : memref<64x64xbf16>) b(%b : memref<64x64xbf16>) outs(%c : memref<64x64xbf16>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 64, 64>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>

// The host computes something in between that the second one reads; nothing
// before it is touched.
// CHECK-LABEL: func.func @between
// CHECK: exec.invoke @product(
// CHECK: exec.transfer
// CHECK: exec.invoke @host
// CHECK: exec.transfer
// CHECK: exec.invoke @product(
func.func @between(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = exec.invoke @product(%x, %w) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = exec.transfer %0 to 0 : tensor<64x64xbf16>
  %2 = exec.invoke @host(%1) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %3 = exec.transfer %2 to 1 : tensor<64x64xbf16>
  %4 = exec.invoke @product(%3, %w) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %4 : tensor<64x64xbf16>
}
exec.kernel @host : (memref<64x64xbf16>) -> memref<64x64xbf16>
exec.kernel @product calls @product_body : (memref<64x64xbf16>, memref<64x64xbf16>) -> memref<64x64xbf16>
    device 1 grid [#exec.size<1>] scratch 0 {nodes = ["one"], flops = #exec.size<10>}
func.func private @product_body(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xbf16>, %s: memref<0xi8>, %begin: index, %end: index) {
  tile.contract a(%a : memref<64x64xbf16>) b(%b : memref<64x64xbf16>) outs(%c : memref<64x64xbf16>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 64, 64>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-schedule-program --ashlar-verify-stage=stage=schedule --split-input-file | FileCheck %s

// Commands keep the order of the function, with a barrier between. A result
// takes the place of an operand that dies there, the last is computed in the
// caller's memory, constants are weights. Names stay.
// CHECK-NOT: func.func @
// CHECK-LABEL: exec.program @chain
// CHECK-SAME: arena_bytes = 256 : i64, arena_lower_bound_bytes = 256 : i64
// CHECK-SAME: inputs = [{ashlar.name = "x", tensor = tensor<64xf32>}]
// CHECK-SAME: outputs = [{ashlar.name = "y", tensor = tensor<64xf32>}]
// CHECK-SAME: weights = [dense<2.000000e+00> : tensor<64xf32>]
// CHECK-NEXT: exec.launch @unary [#exec.binding<input 0, offset = <0>, length = <256>, written = false>, #exec.binding<arena 0, offset = <0>, length = <256>, written = true>]
// CHECK-NEXT: exec.barrier
// CHECK-NEXT: exec.launch @inPlace [#exec.binding<arena 0, offset = <0>, length = <256>, written = false>, #exec.binding<arena 0, offset = <0>, length = <256>, written = true>]
// CHECK-NEXT: exec.barrier
// CHECK-NEXT: exec.launch @binary [#exec.binding<arena 0, offset = <0>, length = <256>, written = false>, #exec.binding<weights 0, offset = <0>, length = <256>, written = false>, #exec.binding<output 0, offset = <0>, length = <256>, written = true>]
// CHECK-NEXT: }
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
exec.kernel @inPlace : (memref<64xf32>) -> memref<64xf32> {aliases = array<i64: 0>}
exec.kernel @binary : (memref<64xf32>, memref<64xf32>) -> memref<64xf32>
func.func @chain(%x: tensor<64xf32> {ashlar.name = "x"})
    -> (tensor<64xf32> {ashlar.name = "y"}) {
  %c = arith.constant dense<2.0> : tensor<64xf32>
  %a = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = exec.invoke @inPlace(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %d = exec.invoke @binary(%b, %c) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}

// -----

// What is read again keeps its place, whatever the kernel would allow.
// CHECK-LABEL: exec.program @live
// CHECK-SAME: arena_bytes = 512 : i64
// CHECK: exec.launch @inPlace [#exec.binding<arena 0, offset = <0>, {{.*}}, #exec.binding<arena 0, offset = <256>,
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
exec.kernel @inPlace : (memref<64xf32>) -> memref<64xf32> {aliases = array<i64: 0>}
exec.kernel @binary : (memref<64xf32>, memref<64xf32>) -> memref<64xf32>
func.func @live(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = exec.invoke @inPlace(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %d = exec.invoke @binary(%b, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}

// -----

// An operand given twice does not die while the other is read.
// CHECK-LABEL: exec.program @twice
// CHECK: exec.launch @add [#exec.binding<arena 0, offset = <0>, {{.*}}, #exec.binding<arena 0, offset = <0>, {{.*}}, #exec.binding<arena 0, offset = <256>,
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
exec.kernel @add : (memref<64xf32>, memref<64xf32>) -> memref<64xf32> {aliases = array<i64: 0>}
func.func @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = exec.invoke @add(%a, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = exec.invoke @unary(%b) : (tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}

// -----

// The caller's inputs are never written.
// CHECK-LABEL: exec.program @inputs
// CHECK: exec.launch @inPlace [#exec.binding<input 0, {{.*}}, #exec.binding<arena 0,
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
exec.kernel @inPlace : (memref<64xf32>) -> memref<64xf32> {aliases = array<i64: 0>}
func.func @inputs(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = exec.invoke @inPlace(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = exec.invoke @unary(%a) : (tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}

// -----

// A view is a part of the buffer that it looks at, which lives until the last
// view is read.
// CHECK-LABEL: exec.program @views
// CHECK-SAME: arena_bytes = 384 : i64
// CHECK: exec.launch @unary {{.*}} #exec.binding<arena 0, offset = <0>, length = <256>, written = true>
// CHECK: exec.launch @half [#exec.binding<arena 0, offset = <128>, length = <128>, written = false>, #exec.binding<arena 0, offset = <256>, length = <128>, written = true>]
// CHECK: exec.launch @both [#exec.binding<arena 0, offset = <0>, length = <128>, written = false>, #exec.binding<arena 0, offset = <256>, length = <128>, written = false>,
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
exec.kernel @half : (memref<32xf32>) -> memref<32xf32> {aliases = array<i64: 0>}
exec.kernel @both : (memref<32xf32>, memref<32xf32>) -> memref<64xf32>
func.func @views(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %high = tensor.extract_slice %a[32] [32] [1] : tensor<64xf32> to tensor<32xf32>
  %low = tensor.extract_slice %a[0] [32] [1] : tensor<64xf32> to tensor<32xf32>
  %b = exec.invoke @half(%high) : (tensor<32xf32>) -> tensor<32xf32>
  %c = exec.invoke @both(%low, %b) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  return %c : tensor<64xf32>
}

// -----

// What is passed through, constant or returned twice is copied.
// CHECK-LABEL: exec.program @copies
// CHECK-SAME: arena_bytes = 0 : i64
// CHECK: exec.launch @unary {{.*}} #exec.binding<output 1,
// CHECK-NEXT: exec.barrier
// CHECK-NEXT: exec.copy <input 0, {{.*}} to <output 0,
// CHECK-NEXT: exec.copy <output 1, {{.*}} to <output 2,
// CHECK-NEXT: exec.copy <weights 0, {{.*}} to <output 3,
// CHECK-NEXT: }
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
func.func @copies(%x: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<8x8xf32>, tensor<64xf32>) {
  %c = arith.constant dense<2.0> : tensor<64xf32>
  %a = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %v = tensor.expand_shape %a [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  return %x, %a, %v, %c : tensor<64xf32>, tensor<64xf32>, tensor<8x8xf32>, tensor<64xf32>
}

// -----

// Equal constants are one weight; booleans take a byte each.
// CHECK-LABEL: exec.program @weights
// CHECK-SAME: weights = [dense<true> : tensor<3xi1>]
// CHECK: exec.launch @both [#exec.binding<weights 0, offset = <0>, length = <3>, written = false>, #exec.binding<weights 0, offset = <0>, length = <3>, written = false>, #exec.binding<output 0, offset = <0>, length = <3>, written = true>]
exec.kernel @both : (memref<3xi1>, memref<3xi1>) -> memref<3xi1>
func.func @weights() -> tensor<3xi1> {
  %a = arith.constant dense<true> : tensor<3xi1>
  %b = arith.constant dense<true> : tensor<3xi1>
  %c = exec.invoke @both(%a, %b) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  return %c : tensor<3xi1>
}

// -----

// An empty tensor has no bytes to copy and needs no place.
// CHECK-LABEL: exec.program @empty
// CHECK-SAME: arena_bytes = 0 : i64
// CHECK-NOT: exec.copy
func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  return %x : tensor<0x4xf32>
}

// -----

// A result that nobody reads has a place while its kernel runs.
// CHECK-LABEL: exec.program @unread
// CHECK-SAME: arena_bytes = 256 : i64
// CHECK: exec.launch @two {{.*}} #exec.binding<output 0, {{.*}} #exec.binding<arena 0, offset = <0>, length = <256>, written = true>
exec.kernel @two : (memref<64xf32>) -> (memref<64xf32>, memref<64xf32>)
func.func @unread(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a:2 = exec.invoke @two(%x) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  return %a#0 : tensor<64xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --verify-roundtrip | FileCheck %s

// CHECK: #[[FORMULA:.*]] = affine_map<()[s0] -> (s0 * 4)>

// A target, a dispatch and its yield are printed as they are read.
// CHECK: module @tensors attributes {exec.target = #exec.target<"cpu", "x86-64-v3">}
module @tensors attributes {exec.target = #exec.target<"cpu", "x86-64-v3">} {
  // CHECK-LABEL: func.func @dispatch
  func.func @dispatch(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: %[[Y:.*]] = exec.dispatch(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4xf32>):
    // CHECK-NEXT: exec.yield %[[X]] : tensor<4xf32>
    %y = exec.dispatch(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x0: tensor<4xf32>):
      exec.yield %x0 : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }

  // A dispatch may take and give nothing; its yield is implied.
  // CHECK-LABEL: func.func @nothing
  func.func @nothing() {
    // CHECK: exec.dispatch() : () -> () {
    // CHECK-NEXT: }
    exec.dispatch() : () -> () {
      exec.yield
    }
    return
  }

  // A kernel takes its operands, then a destination for each result.
  // CHECK-LABEL: func.func @invoke
  func.func @invoke(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi8>) {
    // CHECK: exec.invoke @kernel(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi8>)
    %y:2 = exec.invoke @kernel(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi8>)
    return %y#0, %y#1 : tensor<4xf32>, tensor<2xi8>
  }
  // CHECK: exec.kernel @kernel : (memref<4xf32>) -> (memref<4xf32>, memref<2xi8>)
  exec.kernel @kernel : (memref<4xf32>) -> (memref<4xf32>, memref<2xi8>)
}

module @programs {
  // CHECK: exec.kernel @grouped calls @body : (memref<4xf32>) -> memref<4xf32> device 1
  // CHECK-SAME: grid [#exec.size<2>, #exec.size<#map{{.*}}, largest = 32>] scratch 64
  // CHECK-SAME: {aliases = array<i64: 0>, bound = "compute", cycles = 9 : i64, flops = #exec.size<8>, nodes = ["a", "b"]
  // CHECK-SAME: parameters = [#exec.size<#map{{.*}}, largest = 8>]}
  exec.kernel @grouped calls @body : (memref<4xf32>) -> memref<4xf32> device 1
      grid [#exec.size<2>, #exec.size<affine_map<()[s0] -> (s0 * 4)>, largest = 32>]
      scratch 64
      {nodes = ["a", "b"], flops = #exec.size<8>, cycles = 9 : i64, bound = "compute",
       aliases = array<i64: 0>,
       parameters = [#exec.size<affine_map<()[s0] -> (s0)>, largest = 8>]}
  func.func private @body(memref<4xf32>, memref<4xf32>,
      index {exec.size = #exec.size<affine_map<()[s0] -> (s0)>, largest = 8>},
      memref<64xi8>, index, index)

  // Commands keep their order; bindings keep storage, index, offset, length.
  // CHECK-LABEL: exec.program @main
  // CHECK-SAME: arena_bytes = 64 : i64, arena_lower_bound_bytes = 16 : i64
  exec.program @main attributes {
      arena_bytes = 64 : i64, arena_lower_bound_bytes = 16 : i64,
      inputs = [{tensor = tensor<4xf32>}], outputs = [{tensor = tensor<4xf32>}],
      weights = []} {
    // CHECK-NEXT: exec.launch @grouped
    // CHECK-SAME: [#exec.binding<input 0, offset = <0>, length = <16>, written = false>,
    // CHECK-SAME: #exec.binding<arena 0, offset = <0>, length = <16>, written = true>]
    exec.launch @grouped [
      #exec.binding<input 0, offset = <0>, length = <16>, written = false>,
      #exec.binding<arena 0, offset = <0>, length = <16>, written = true>]
    // CHECK-NEXT: exec.barrier
    exec.barrier
    // CHECK-NEXT: exec.copy <arena 0, offset = <0>, length = <16>, written = false> to <output 0, offset = <0>, length = <16>, written = true>
    exec.copy <arena 0, offset = <0>, length = <16>, written = false>
           to <output 0, offset = <0>, length = <16>, written = true>
    // CHECK-NEXT: exec.check <input 0, offset = <0>, length = <1>, written = false>, "the byte is zero"
    exec.check <input 0, offset = <0>, length = <1>, written = false>, "the byte is zero"
    // CHECK-NEXT: exec.if <input 0, offset = <0>, length = <1>, written = false> {
    // CHECK-NEXT: exec.barrier
    // CHECK-NEXT: } else {
    // CHECK-NEXT: }
    exec.if <input 0, offset = <0>, length = <1>, written = false> {
      exec.barrier
    } else {
    }
    // CHECK-NEXT: exec.loop while <input 0, offset = <0>, length = <1>, written = false> attributes {iterations = 3 : i64} {
    // CHECK-NEXT: exec.copy {{.*}} {source_stride = 4 : i64, target_stride = -4 : i64}
    // CHECK-NEXT: }
    exec.loop while <input 0, offset = <0>, length = <1>, written = false>
        attributes {iterations = 3 : i64} {
      exec.copy <input 0, offset = <0>, length = <4>, written = false>
             to <arena 0, offset = <12>, length = <4>, written = true>
             {source_stride = 4 : i64, target_stride = -4 : i64}
    }
  }
}

// A size is a number, or a formula over the symbols of the module; a formula
// that is a number is printed as one.
// CHECK-LABEL: func.func private @sizes
// CHECK-SAME: constant = #exec.size<4096>
// CHECK-SAME: formula = #exec.size<#[[FORMULA]], largest = 32>
// CHECK-SAME: number = #exec.size<7>
func.func private @sizes() attributes {
  constant = #exec.size<4096>,
  formula = #exec.size<affine_map<()[s0] -> (s0 * 4)>, largest = 32>,
  number = #exec.size<affine_map<() -> (7)>>}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-reorder-operations --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-schedule-pipeline --split-input-file | FileCheck %s --check-prefix=ARENA
// RUN: ashlar-opt %s --ashlar-reorder-operations=arena-bytes=5000 --split-input-file | FileCheck %s --check-prefix=AGAIN

// Branches that are wide inside are computed one after the other, views with
// what they look at.
// CHECK-LABEL: func.func @branches
// CHECK-NEXT: %[[A:.*]] = exec.invoke @widen(%arg0)
// CHECK-NEXT: %[[V:.*]] = tensor.collapse_shape %[[A]]
// CHECK-NEXT: %[[C:.*]] = exec.invoke @narrow(%[[V]])
// CHECK-NEXT: %[[B:.*]] = exec.invoke @widen(%arg0)
// CHECK-NEXT: %[[W:.*]] = tensor.collapse_shape %[[B]]
// CHECK-NEXT: %[[D:.*]] = exec.invoke @narrow(%[[W]])
// CHECK-NEXT: exec.invoke @join(%[[C]], %[[D]])
// ARENA-LABEL: exec.program @branches
// ARENA-SAME: arena_bytes = 4608 : i64, arena_lower_bound_bytes = 4608 : i64
exec.kernel @widen : (memref<64xf32>) -> memref<16x64xf32>
exec.kernel @narrow : (memref<1024xf32>) -> memref<64xf32>
exec.kernel @join : (memref<64xf32>, memref<64xf32>) -> memref<64xf32>
func.func @branches(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = exec.invoke @widen(%x) : (tensor<64xf32>) -> tensor<16x64xf32>
  %b = exec.invoke @widen(%x) : (tensor<64xf32>) -> tensor<16x64xf32>
  %v = tensor.collapse_shape %a [[0, 1]] : tensor<16x64xf32> into tensor<1024xf32>
  %w = tensor.collapse_shape %b [[0, 1]] : tensor<16x64xf32> into tensor<1024xf32>
  %c = exec.invoke @narrow(%v) : (tensor<1024xf32>) -> tensor<64xf32>
  %d = exec.invoke @narrow(%w) : (tensor<1024xf32>) -> tensor<64xf32>
  %y = exec.invoke @join(%c, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// No order has less: it stays as it is.
// CHECK-LABEL: func.func @stays
// CHECK: %[[A:.*]] = exec.invoke @unary(%arg0)
// CHECK: %[[B:.*]] = exec.invoke @unary(%arg1)
// CHECK: exec.invoke @join(%[[B]], %[[A]])
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
exec.kernel @join : (memref<64xf32>, memref<64xf32>) -> memref<64xf32>
func.func @stays(%x: tensor<64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {
  %a = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = exec.invoke @unary(%z) : (tensor<64xf32>) -> tensor<64xf32>
  %y = exec.invoke @join(%b, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// What a call checks is checked where it was: nothing goes past it.
// CHECK-LABEL: func.func @checked
// CHECK: exec.invoke @widen
// CHECK: exec.invoke @widen
// CHECK: cf.assert
// CHECK: exec.invoke @narrow
// CHECK: exec.invoke @narrow
exec.kernel @widen : (memref<64xf32>) -> memref<1024xf32>
exec.kernel @narrow : (memref<1024xf32>) -> memref<64xf32>
exec.kernel @join : (memref<64xf32>, memref<64xf32>) -> memref<64xf32>
func.func @checked(%x: tensor<64xf32>, %ok: tensor<1xi1>) -> tensor<64xf32> {
  %zero = arith.constant 0 : index
  %a = exec.invoke @widen(%x) : (tensor<64xf32>) -> tensor<1024xf32>
  %b = exec.invoke @widen(%x) : (tensor<64xf32>) -> tensor<1024xf32>
  %holds = tensor.extract %ok[%zero] : tensor<1xi1>
  cf.assert %holds, "expected it to hold"
  %c = exec.invoke @narrow(%a) : (tensor<1024xf32>) -> tensor<64xf32>
  %d = exec.invoke @narrow(%b) : (tensor<1024xf32>) -> tensor<64xf32>
  %y = exec.invoke @join(%c, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// Where the arena must be smaller than any order needs, what is cheap and lies
// idle at the peak is computed again before it is read, views of it too.
// CHECK-LABEL: func.func @idle
// CHECK-COUNT-1: exec.invoke @spread
// CHECK-NOT: exec.invoke @spread
// AGAIN-LABEL: func.func @idle
// AGAIN: %[[A:.*]] = exec.invoke @spread(%arg0)
// AGAIN: exec.invoke @widen
// AGAIN: %[[B:.*]] = exec.invoke @spread(%arg0)
// AGAIN: %[[V:.*]] = tensor.collapse_shape %[[B]]
// AGAIN: exec.invoke @add(%[[V]],
exec.kernel @spread : (memref<64xf32>) -> memref<16x64xf32>
exec.kernel @narrow : (memref<1024xf32>) -> memref<64xf32>
exec.kernel @widen : (memref<64xf32>) -> memref<1024xf32>
exec.kernel @add : (memref<1024xf32>, memref<64xf32>) -> memref<1024xf32>
func.func @idle(%x: tensor<64xf32>) -> tensor<1024xf32> {
  %a = exec.invoke @spread(%x) : (tensor<64xf32>) -> tensor<16x64xf32>
  %v = tensor.collapse_shape %a [[0, 1]] : tensor<16x64xf32> into tensor<1024xf32>
  %b = exec.invoke @narrow(%v) : (tensor<1024xf32>) -> tensor<64xf32>
  %c = exec.invoke @widen(%b) : (tensor<64xf32>) -> tensor<1024xf32>
  %d = exec.invoke @narrow(%c) : (tensor<1024xf32>) -> tensor<64xf32>
  %y = exec.invoke @add(%v, %d) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}

// -----

// A contraction is not cheap: it stays.
// AGAIN-LABEL: func.func @costly
// AGAIN-COUNT-1: exec.invoke @product
// AGAIN-NOT: exec.invoke @product
exec.kernel @product : (memref<64xf32>) -> memref<1024xf32> {cycles = 100 : i64, bound = "compute"}
exec.kernel @narrow : (memref<1024xf32>) -> memref<64xf32>
exec.kernel @widen : (memref<64xf32>) -> memref<1024xf32>
exec.kernel @add : (memref<1024xf32>, memref<64xf32>) -> memref<1024xf32>
func.func @costly(%x: tensor<64xf32>) -> tensor<1024xf32> {
  %a = exec.invoke @product(%x) : (tensor<64xf32>) -> tensor<1024xf32>
  %b = exec.invoke @narrow(%a) : (tensor<1024xf32>) -> tensor<64xf32>
  %c = exec.invoke @widen(%b) : (tensor<64xf32>) -> tensor<1024xf32>
  %d = exec.invoke @narrow(%c) : (tensor<1024xf32>) -> tensor<64xf32>
  %y = exec.invoke @add(%a, %d) : (tensor<1024xf32>, tensor<64xf32>) -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}

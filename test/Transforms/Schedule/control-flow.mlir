// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-schedule-program --ashlar-verify-stage=stage=schedule --split-input-file | FileCheck %s

// Both branches compute the result where it stays, and share what they need
// besides; a value that is passed on is copied.
// CHECK-LABEL: exec.program @branches
// CHECK-SAME: arena_bytes = 512 : i64
// CHECK-NEXT: exec.if <input 1, offset = <0>, length = <1>, written = false> {
// CHECK-NEXT:   exec.launch @unary [#exec.binding<input 0, {{.*}}#exec.binding<arena 0, offset = <[[INNER:[0-9]+]]>
// CHECK-NEXT:   exec.barrier
// CHECK-NEXT:   exec.launch @unary [#exec.binding<arena 0, offset = <[[INNER]]>{{.*}}#exec.binding<arena 0, offset = <[[RESULT:[0-9]+]]>
// CHECK-NEXT: } else {
// CHECK-NEXT:   exec.copy <input 0, {{.*}}> to <arena 0, offset = <[[RESULT]]>
// CHECK-NEXT: }
// CHECK-NEXT: exec.launch @unary [#exec.binding<arena 0, offset = <[[RESULT]]>{{.*}}#exec.binding<output 0
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
func.func @branches(%x: tensor<64xf32>, %c: tensor<i1>) -> tensor<64xf32> {
  %go = tensor.extract %c[] : tensor<i1>
  %r = scf.if %go -> (tensor<64xf32>) {
    %a = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %b = exec.invoke @unary(%a) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  %y = exec.invoke @unary(%r) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// What is carried stays where its first value was computed; values that change
// places wait until all are read; rows are copied by the loop's own counter.
// CHECK-LABEL: exec.program @steps
// CHECK: exec.launch @unary [{{.*}}#exec.binding<arena 0, offset = <[[A:[0-9]+]]>
// CHECK: exec.copy <input 0, offset = <0>, length = <256>, written = false> to <arena 0, offset = <[[B:[0-9]+]]>
// CHECK-NEXT: exec.copy <input 0, offset = <0>, length = <256>, written = false>
// CHECK-NEXT: exec.loop attributes {iterations = 4 : i64} {
// CHECK-NEXT:   exec.copy <input 1, offset = <0>, length = <256>, written = false> to <arena 0, offset = <{{.*}}>, length = <256>, written = true> {source_stride = 256 : i64}
// CHECK-NEXT:   exec.barrier
// CHECK-NEXT:   exec.copy <arena 0, offset = <[[B]]>, {{.*}} to <arena 0, offset = <[[WAITS:[0-9]+]]>
// CHECK-NEXT:   exec.copy <arena 0, offset = <[[A]]>, {{.*}} to <arena 0, offset = <[[TOO:[0-9]+]]>
// CHECK-NEXT:   exec.barrier
// CHECK-NEXT:   exec.copy <arena 0, offset = <[[WAITS]]>, {{.*}} to <arena 0, offset = <[[A]]>
// CHECK-NEXT:   exec.copy <arena 0, offset = <[[TOO]]>, {{.*}} to <arena 0, offset = <[[B]]>
// CHECK-NEXT:   exec.copy {{.*}} to <arena 0, offset = <[[ROW:[0-9]+]]>
// CHECK-NEXT: }
exec.kernel @unary : (memref<64xf32>) -> memref<64xf32>
func.func @steps(%x: tensor<64xf32>, %rows: tensor<4x64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %first = exec.invoke @unary(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %r:3 = scf.for %i = %c0 to %c4 step %c1
      iter_args(%a = %first, %b = %x, %s = %x)
      -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %row = tensor.extract_slice %rows[%i, 0] [1, 64] [1, 1]
        : tensor<4x64xf32> to tensor<64xf32>
    scf.yield %b, %a, %row : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  } {exec.commands}
  return %r#0, %r#1, %r#2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// A loop that decides by itself, and an assertion: each reads a byte.
// CHECK-LABEL: exec.program @decides
// CHECK: exec.check <input 0, offset = <0>, length = <1>, written = false>, "must be set"
// CHECK: exec.copy <input 0, {{.*}} to <arena 0, offset = <[[GO:[0-9]+]]>
// CHECK-NEXT: exec.loop while <arena 0, offset = <[[GO]]>, length = <1>, written = false> {
// CHECK-NEXT:   exec.launch @flip [#exec.binding<arena 0, offset = <[[GO]]>{{.*}}#exec.binding<arena 0, offset = <[[NEXT:[0-9]+]]>
// CHECK-NEXT:   exec.barrier
// CHECK-NEXT:   exec.copy <arena 0, offset = <[[NEXT]]>, {{.*}} to <arena 0, offset = <[[GO]]>
// CHECK-NEXT: }
exec.kernel @flip : (memref<i1>) -> memref<i1>
func.func @decides(%c: tensor<i1>) -> tensor<i1> {
  %set = tensor.extract %c[] : tensor<i1>
  cf.assert %set, "must be set"
  %r = scf.while (%a = %c) : (tensor<i1>) -> tensor<i1> {
    %go = tensor.extract %a[] : tensor<i1>
    scf.condition(%go) %a : tensor<i1>
  } do {
  ^bb0(%a: tensor<i1>):
    %n = exec.invoke @flip(%a) : (tensor<i1>) -> tensor<i1>
    scf.yield %n : tensor<i1>
  }
  return %r : tensor<i1>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-clone-programs=targets=cpu:x86-64-v3,reference:generic | FileCheck %s
// RUN: ashlar-opt %s --ashlar-clone-programs=targets=cpu:host | FileCheck %s --check-prefix=ONE

// Every target, in order, has a module with its own copy of the function and
// its attributes; nothing is left outside.
// CHECK: module {
// CHECK-NEXT: module @program_0 attributes {exec.target = #exec.target<"cpu", "x86-64-v3">} {
// CHECK-NEXT: func.func @main(%{{.*}}: tensor<4xf32> {ashlar.name = "x"}) -> (tensor<4xf32> {ashlar.name = "y"})
// CHECK: module @program_1 attributes {exec.target = #exec.target<"reference", "generic">} {
// CHECK-NEXT: func.func @main
// CHECK-NOT: func.func

// One target is one program.
// ONE: module @program_0 attributes {exec.target = #exec.target<"cpu", "host">}
// ONE-COUNT-1: func.func @main
// ONE-NOT: module
// ONE-NOT: func.func
func.func @main(%x: tensor<4xf32> {ashlar.name = "x"})
    -> (tensor<4xf32> {ashlar.name = "y"}) {
  return %x : tensor<4xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-place-pipeline | FileCheck %s

// All functions are in the program of a target.
// CHECK: module @program_0 attributes {exec.target = #exec.target<"cpu", "host">}
// CHECK-NEXT: func.func @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-run-stage="stage=place target=reference" | FileCheck %s
// RUN: not ashlar-opt %s --ashlar-run-stage="stage=plaice" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not ashlar-opt %s --ashlar-run-stage="stage=place target=refer" 2>&1 | FileCheck %s --check-prefix=TARGET

// CHECK: module @program_0 attributes {{.*}}exec.target = #exec.target<"reference"
// CHECK: func.func @main
// STAGE: error: {{.*}}plaice
// TARGET: error: {{.*}}'refer' is not a target
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

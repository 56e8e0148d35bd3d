// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-precision-pipeline | FileCheck %s

// Types are what the model says, and explicit in every operand.
// CHECK: linalg.add ins(%{{.*}}, %{{.*}} : tensor<8xf16>, tensor<8xf16>) outs(%{{.*}} : tensor<8xf16>)
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> {
  %y = linalg.add ins(%x, %x : tensor<8xf16>, tensor<8xf16>) outs(%x : tensor<8xf16>) -> tensor<8xf16>
  return %y : tensor<8xf16>
}

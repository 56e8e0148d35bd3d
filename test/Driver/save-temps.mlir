// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s -o %t/y.ash --save-temps=%t/new/temps
// RUN: ls %t/new/temps | FileCheck %s

// The folder is made where it does not exist; each kernel leaves its code
// before and after LLVM's passes.
// CHECK-DAG: k0_{{.*}}.ll
// CHECK-DAG: k0_{{.*}}.opt.ll
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

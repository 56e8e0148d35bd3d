// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s -o %t.ash --quiet
// RUN: ashlar-run %t.ash --input=arg0=random --print | FileCheck %s

// As NumPy prints it: a million rows of nothing are not written.
// CHECK: f32 1048576x0
// CHECK-NEXT: {{^\[\]$}}
// CHECK-NOT: [
func.func @main(%x: tensor<1048576x0xf32>) -> tensor<1048576x0xf32> {
  %e = tensor.empty() : tensor<1048576x0xf32>
  %y = linalg.add ins(%x, %x : tensor<1048576x0xf32>, tensor<1048576x0xf32>)
                  outs(%e : tensor<1048576x0xf32>) -> tensor<1048576x0xf32>
  return %y : tensor<1048576x0xf32>
}

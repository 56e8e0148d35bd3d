// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s -o %t/y.ash --save-temps=%t/new/temps
// RUN: ls %t/new/temps/cpu-host | FileCheck %s
// RUN: ashlar-compile %s -o %t/y.ash --save-temps=%t/two --target=cpu:x86-64-v3,reference
// RUN: ls %t/two | FileCheck %s --check-prefix=TWO
// RUN: ls %t/two/cpu-x86-64-v3 | FileCheck %s
// RUN: ls %t/two/reference-generic | FileCheck %s
// RUN: sh -c 'cat %t/two/cpu-x86-64-v3/*' | FileCheck %s --check-prefix=V3

// The folder is made where it does not exist; each kernel leaves its code
// before and after LLVM's passes.
// CHECK-DAG: k0_{{.*}}.ll
// CHECK-DAG: k0_{{.*}}.opt.ll

// Kernels of two programs may have the same name, so each program has a folder.
// TWO: cpu-x86-64-v3
// TWO-NEXT: reference-generic
// TWO-NOT: {{.}}
// V3: "target-features"="{{.*}}+avx2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

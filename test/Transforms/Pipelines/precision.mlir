// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-precision-pipeline | FileCheck %s
// RUN: ashlar-opt %S/../Precision/lower-precision.mlir --split-input-file --ashlar-precision-pipeline="target=cpu:znver4 precision=bf16" | FileCheck %s --check-prefix=LOW
// RUN: ashlar-opt %S/Inputs/product.mlir --ashlar-precision-pipeline=target=reference | FileCheck %s --check-prefix=WIDE
// RUN: sh -c 'ashlar-opt %s --ashlar-precision-pipeline=precision=auto 2>%t; test $? -eq 2' && FileCheck %s --check-prefix=AUTO < %t
// RUN: not ashlar-opt %s --ashlar-precision-pipeline="target=reference precision=bf16" 2>&1 | FileCheck %s --check-prefix=REFERENCE

// Types are what the model says, and explicit in every operand.
// CHECK: linalg.add ins(%{{.*}}, %{{.*}} : tensor<8xf16>, tensor<8xf16>) outs(%{{.*}} : tensor<8xf16>)
// Type and target are options: products of bf16, or sums of f64.
// LOW: bf16
// WIDE: f64
// AUTO: precision=auto: expected f32, bf16 or f16
// REFERENCE: --precision: the target reference:generic checks others
func.func @main(%x: tensor<8xf16>) -> tensor<8xf16> {
  %y = linalg.add ins(%x, %x : tensor<8xf16>, tensor<8xf16>) outs(%x : tensor<8xf16>) -> tensor<8xf16>
  return %y : tensor<8xf16>
}

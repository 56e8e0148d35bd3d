// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-import-pipeline | FileCheck %s

// The importers make the first IR; the pipeline only checks it.
// CHECK: linalg.add
// CHECK: linalg.exp
func.func @main(%x: tensor<8xf32> {ashlar.name = "x", ashlar.type = "float"})
    -> (tensor<8xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  %a = arith.constant dense<1.0> : tensor<8xf32> loc("a")
  %e = tensor.empty() : tensor<8xf32> loc("Add_0")
  %y = linalg.add ins(%x, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> loc("Add_0")
  %u = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> loc("Exp_1")
  return %y : tensor<8xf32> loc("main")
} loc("main")

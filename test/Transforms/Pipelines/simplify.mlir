// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-simplify-pipeline | FileCheck %s
// RUN: not ashlar-opt %S/place.mlir --ashlar-simplify-pipeline 2>&1 | FileCheck %s --check-prefix=NAMELESS

// Dead code goes, equal ops become one, constants fold.
// CHECK: func.func @main
// CHECK: arith.constant dense<1.000000e+00>
// CHECK-NOT: linalg.exp
// CHECK: linalg.add
// CHECK-NOT: linalg.exp
// CHECK: return
// IR that was not imported has no names; what gives them is said.
// NAMELESS: place.mlir:{{[0-9]+}}:1: error: after the stage simplify: expected a string 'ashlar.name' on argument 0 of 'main', found none; the stage import gives names
func.func @main(%x: tensor<8xf32> {ashlar.name = "x", ashlar.type = "float"})
    -> (tensor<8xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  %a = arith.constant dense<1.0> : tensor<8xf32> loc("a")
  %e = tensor.empty() : tensor<8xf32> loc("Add_0")
  %y = linalg.add ins(%x, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> loc("Add_0")
  %u = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> loc("Exp_1")
  return %y : tensor<8xf32> loc("main")
} loc("main")

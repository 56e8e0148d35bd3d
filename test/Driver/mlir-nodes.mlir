// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s -o %t/m.ash
// RUN: ashlar-inspect %t/m.ash --kernels | FileCheck %s

// Every op of a model in MLIR is in the map of kernels, under its own name and
// place, whatever it became.
// CHECK: kernels of cpu:host
// CHECK: k0_{{.*}} tosa.add@[[#ADD:]]:8, tosa.exp@{{[0-9]+}}:8
// CHECK: nodes of cpu:host
// CHECK-NEXT: name kernels
// CHECK-NEXT: tosa.add@[[#ADD]]:8{{ +}}k0_
// CHECK-NEXT: tosa.exp@[[#ADD+1]]:8{{ +}}k0_
// CHECK-NEXT: tosa.reshape@[[#ADD+3]]:8{{ +}}view
// CHECK-NEXT: tosa.add@[[#ADD+5]]:8{{ +}}folded
func.func @main(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<2xi32>) {
  %a = tosa.add %x, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %b = tosa.exp %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = tosa.const_shape {values = dense<24> : tensor<1xindex>} : () -> !tosa.shape<1>
  %c = tosa.reshape %b, %s : (tensor<4x6xf32>, !tosa.shape<1>) -> tensor<24xf32>
  %k = "tosa.const"() {values = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %d = tosa.add %k, %k : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %c, %d : tensor<24xf32>, tensor<2xi32>
}

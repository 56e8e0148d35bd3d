// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-randomize-weights='seed=7 least-bytes=16' | FileCheck %s

// Large resources keep their deviation: here 1, beside that of what a number is
// made of, 37837.2. What is one constant stays one; integers, small constants
// and those without bytes stay what they are.
// CHECK-LABEL: func.func @weights
// CHECK-DAG: arith.constant #tile.random<7, 0, 2.64{{[0-9]*}}E-5 : f32> : tensor<4xf32>
// CHECK-DAG: arith.constant #tile.random<7, 0, 2.64{{[0-9]*}}E-5 : f32> : tensor<4xf32>
// CHECK-DAG: arith.constant #tile.random<7, 1, 5.28{{[0-9]*}}E-5 : f32> : tensor<8xbf16>
// CHECK-DAG: arith.constant dense_resource<integers> : tensor<4xi32>
// CHECK-DAG: arith.constant dense_resource<small> : tensor<2xf32>
// CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<4xf32>
func.func @weights() -> (tensor<4xf32>, tensor<4xf32>, tensor<8xbf16>,
                         tensor<4xi32>, tensor<2xf32>, tensor<4xf32>) {
  %a = arith.constant dense_resource<singles> : tensor<4xf32>
  %b = arith.constant dense_resource<singles> : tensor<4xf32>
  %c = arith.constant dense_resource<halves> : tensor<8xbf16>
  %d = arith.constant dense_resource<integers> : tensor<4xi32>
  %e = arith.constant dense_resource<small> : tensor<2xf32>
  %f = arith.constant dense<1.0> : tensor<4xf32>
  return %a, %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<8xbf16>,
    tensor<4xi32>, tensor<2xf32>, tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      singles: "0x040000000000803F000080BF0000803F000080BF",
      halves: "0x02000000004000C0004000C0004000C0004000C0",
      integers: "0x0400000001000000020000000300000004000000",
      small: "0x040000000000803F000080BF"
    }
  }
#-}

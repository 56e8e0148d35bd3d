// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s --until=import --shape=arg0=5x7 | FileCheck %s

// Sizes that follow from the arguments become constants.
// CHECK: func.func @main(%{{.*}}: tensor<5x7xf32>
// CHECK-SAME: -> (tensor<7x5xf32>
// CHECK-NOT: tensor<?
// CHECK-NOT: tensor.dim
func.func @main(%x: tensor<?x7xf32>) -> tensor<7x?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x7xf32>
  %e = tensor.empty(%n) : tensor<7x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x7xf32>)
      outs(%e : tensor<7x?xf32>) permutation = [1, 0]
  %m = tensor.empty(%n) : tensor<7x?xf32>
  %r = linalg.exp ins(%t : tensor<7x?xf32>) outs(%m : tensor<7x?xf32>)
      -> tensor<7x?xf32>
  return %r : tensor<7x?xf32>
}

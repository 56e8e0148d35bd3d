// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && split-file %s %t
// RUN: ashlar-compile %t/dynamic.mlir --until=import --shape=arg0=5x7 \
// RUN:   | FileCheck %s
// RUN: ashlar-compile %t/identity.mlir --until=import --shape=arg0=5x7 \
// RUN:   | FileCheck %s --check-prefix=IDENTITY

// Sizes that follow from the arguments become constants.
// CHECK: func.func @main(%{{.*}}: tensor<5x7xf32>
// CHECK-SAME: -> (tensor<7x5xf32>
// CHECK-NOT: tensor<?
// CHECK-NOT: tensor.dim
//--- dynamic.mlir
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

// IDENTITY: func.func @main(%{{.*}}: tensor<5x7xf32>
// IDENTITY-SAME: -> (tensor<5x7xf32>
// IDENTITY: return %arg0 : tensor<5x7xf32>

//--- identity.mlir
func.func @main(%x: tensor<?x7xf32>) -> tensor<?x7xf32> {
  return %x : tensor<?x7xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-import-pipeline --verify-diagnostics

// What the importer of a file refuses is refused of any IR.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'bufferization.alloc_tensor' is not accepted; expected ops of linalg, tensor, arith, math, scf or tosa}}
  %y = bufferization.alloc_tensor() : tensor<4xf32>
  return %y : tensor<4xf32>
}

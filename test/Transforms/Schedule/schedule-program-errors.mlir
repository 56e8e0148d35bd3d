// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-schedule-program --split-input-file --verify-diagnostics

// Only kernels, views and constants have a place in a command list.
func.func @compute(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{cannot be scheduled: expected kernels, views and constants after the stage tile}}
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A slice with gaps is no view, it moves data.
func.func @gaps(%x: tensor<4x4xf32>) -> tensor<4x2xf32> {
  // expected-error@+1 {{cannot be scheduled}}
  %y = tensor.extract_slice %x[0, 0] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

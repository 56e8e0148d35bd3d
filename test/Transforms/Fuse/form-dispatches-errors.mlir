// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-dispatches --split-input-file --verify-diagnostics

// Only tensors flow between kernels: a loop that gives a number is no kernel.
func.func @number(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{computes a 'f32' outside of any kernel; only tensors can flow between kernels}}
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (f32) {
    %v = tensor.extract %x[%i] : tensor<8xf32>
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  }
  // expected-note @below {{read here}}
  %y = tensor.splat %sum : tensor<8xf32>
  return %y : tensor<8xf32>
}

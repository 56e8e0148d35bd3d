// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-schedule-program --split-input-file --verify-diagnostics

// Only kernels, views, constants and control flow have a place in a command list.
func.func @compute(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{cannot be scheduled: expected kernels, views, constants and control flow after the stage tile}}
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

// -----

// What decides whether a loop goes on is computed by the step before.
exec.kernel @k : (memref<i1>) -> memref<i1>
func.func @deciding(%c: tensor<i1>) -> tensor<i1> {
  // expected-error@+1 {{cannot be scheduled: expected its condition to be computed by the iteration before, found kernels in the block that decides}}
  %r = scf.while (%a = %c) : (tensor<i1>) -> tensor<i1> {
    %d = exec.invoke @k(%a) : (tensor<i1>) -> tensor<i1> // expected-note {{the first of them is here}}
    %go = tensor.extract %d[] : tensor<i1>
    scf.condition(%go) %a : tensor<i1>
  } do {
  ^bb0(%a: tensor<i1>):
    scf.yield %a : tensor<i1>
  }
  return %r : tensor<i1>
}

// -----

// Rows go into a tensor that is there for them alone.
func.func @rows(%x: tensor<4x16xf32>, %y: tensor<16xf32>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %b = %x) // expected-note {{the tensor comes from here}}
      -> (tensor<4x16xf32>, tensor<4x16xf32>) {
    // expected-error@+1 {{cannot be scheduled: expected rows to be put into a tensor that the loop carries for this alone}}
    %s = tensor.insert_slice %y into %a[%i, 0] [1, 16] [1, 1]
        : tensor<16xf32> into tensor<4x16xf32>
    scf.yield %s, %a : tensor<4x16xf32>, tensor<4x16xf32>
  } {exec.commands}
  return %r#0, %r#1 : tensor<4x16xf32>, tensor<4x16xf32>
}

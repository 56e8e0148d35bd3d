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

// -----

// Where a slice begins is aligned at the largest sizes, and is not at others.
#n = #exec.size<affine_map<()[s0] -> (s0)>, largest = 64>
#half = #exec.size<affine_map<()[s0] -> (s0 floordiv 2)>, largest = 32>
module attributes {exec.symbols = [{name = "N", minimum = 4 : i64, maximum = 64 : i64, step = 4 : i64}]} {
  func.func @unaligned(%x: tensor<64x4xf32> {exec.sizes = [#n, #exec.size<4>]}) -> tensor<32x4xf32> {
    // expected-error@+1 {{sizes that a caller chooses: expected a slice that begins at a multiple of 64 bytes at all sizes, found #exec.size<affine_map<()[s0] -> ((s0 floordiv 2) * 16)>, largest = 512>; fix the sizes with --shape}}
    %y = tensor.extract_slice %x[32, 0] [32, 4] [1, 1] {exec.sizes = [[#half, #exec.size<4>]], exec.attribute_sizes = {static_offsets = [#half, #exec.size<0>]}} : tensor<64x4xf32> to tensor<32x4xf32>
    return %y : tensor<32x4xf32>
  }
}

// -----

// What becomes of a state is in its place: a copy there would come too late.
exec.kernel @k : (memref<4xf32>) -> memref<4xf32>
func.func @elsewhere(%past: tensor<4xf32> {exec.state_shape = array<i64: 4>}, %x: tensor<4xf32>) -> (tensor<4xf32> {exec.state = 0 : i64, exec.state_shape = array<i64: 4>}) {
  // expected-note@+1 {{the result is made here}}
  %y = exec.invoke @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{expected result 0 to be a state that a kernel changes in place}}
  return %y : tensor<4xf32>
}

// -----

// Panels are laid out by the compiler: of what a caller brings there are none.
// expected-note @below {{the source is here}}
func.func @panels(%w: tensor<64x32xf32>) -> tensor<4x32x16xf32> {
  // expected-error @below {{expected a constant to pack}}
  %p = tile.pack %w columns = 0 order = [1] : tensor<64x32xf32> to tensor<4x32x16xf32>
  return %p : tensor<4x32x16xf32>
}

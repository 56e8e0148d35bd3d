// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics

// A body sees exactly the operands.
func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'exec.dispatch' op body must take the operands' types, expected 'tensor<4xf32>', found 'tensor<5xf32>'}}
  %y = exec.dispatch(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x0: tensor<5xf32>):
    %e = tensor.empty() : tensor<4xf32>
    exec.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A body gives exactly the results.
func.func @results(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error@+1 {{'exec.dispatch' op body must yield the results' types, expected 'tensor<4xi32>', found 'tensor<4xf32>'}}
  %y = exec.dispatch(%x) : (tensor<4xf32>) -> tensor<4xi32> {
  ^bb0(%x0: tensor<4xf32>):
    exec.yield %x0 : tensor<4xf32> // expected-note {{yielded here}}
  }
  return %y : tensor<4xi32>
}

// -----

// What a body uses is an operand; nothing is captured.
func.func @captured(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{required by region isolation constraints}}
  %y = exec.dispatch() : () -> tensor<4xf32> {
    // expected-error@+1 {{'exec.yield' op using value defined outside the region}}
    exec.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Only tensors flow between kernels.
func.func @scalar(%x: f32) {
  // expected-error@+1 {{'exec.dispatch' op operand #0 must be variadic of ranked tensor of any type values, but got 'f32'}}
  "exec.dispatch"(%x) ({
  ^bb0(%x0: f32):
    exec.yield
  }) : (f32) -> ()
  return
}

// -----

func.func @yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{'exec.yield' op expects parent op 'exec.dispatch'}}
  exec.yield %x : tensor<4xf32>
}

// -----

func.func @missing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'exec.invoke' op names kernel @relu, which does not exist}}
  %y = exec.invoke @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A kernel has a place for each operand and each result.
func.func @arity(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'exec.invoke' op has 1 operands and 1 results, but its kernel takes 1 and has 0}}
  %y = exec.invoke @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// expected-note@+1 {{the kernel is here}}
exec.kernel @relu : (memref<4xf32>) -> ()

// -----

// expected-error@+1 {{'exec.kernel' op calls @body, which does not exist}}
exec.kernel @k calls @body : (memref<4xf32>) -> ()

// -----

// Its body takes the same buffers, in this order.
// expected-error@+1 {{'exec.kernel' op expected its body to take 'memref<4xf32>' as buffer 1, found 'memref<8xf32>'}}
exec.kernel @k calls @body : (memref<8xf32>) -> memref<4xf32>
// expected-note@+1 {{the body is here}}
func.func private @body(memref<8xf32>, memref<8xf32>)

// -----

// expected-error@+1 {{'exec.kernel' op expected its body to take 1 buffers and 1 parameters, found 1 arguments}}
exec.kernel @k calls @body : (memref<8xf32>) -> () {parameters = [#exec.size<4>]}
// expected-note@+1 {{the body is here}}
func.func private @body(memref<8xf32>)

// -----

// expected-error@+1 {{'exec.kernel' op expected its body to take parameters as index, found 'i64'}}
exec.kernel @k calls @body : (memref<8xf32>) -> () {parameters = [#exec.size<4>]}
// expected-note@+1 {{the body is here}}
func.func private @body(memref<8xf32>, i64)

// -----

// expected-error@+1 {{'exec.kernel' op expected its body to take parameters with 'exec.size' as in the kernel, found #exec.size<5>}}
exec.kernel @k calls @body : (memref<8xf32>) -> () {parameters = [#exec.size<4>]}
// expected-note@+1 {{the body is here}}
func.func private @body(memref<8xf32>, index {exec.size = #exec.size<5>})

// -----

// expected-error@+1 {{'exec.kernel' op expected memrefs as bindings, found 'tensor<4xf32>'}}
exec.kernel @k : (tensor<4xf32>) -> ()

// -----

// expected-error@+1 {{'exec.kernel' op expected the number of a device, found -1}}
exec.kernel @k : () -> () device -1

// -----

// expected-error@+1 {{'exec.kernel' op expected a grid of one to three sizes, found 0}}
exec.kernel @k : () -> () grid []

// -----

// expected-error@+1 {{'exec.kernel' op expected bytes of scratch, found -8}}
exec.kernel @k : () -> () scratch -8

// -----

// expected-error@+1 {{'exec.kernel' op expected 'bound' beside 'cycles', found none}}
exec.kernel @k : () -> () {cycles = 3 : i64}

// -----

// Only an operand can be overwritten, and only by a single result.
// expected-error@+1 {{'exec.kernel' op expected 'aliases' to number some of its 1 operands, found operand 1}}
exec.kernel @k : (memref<4xf32>) -> memref<4xf32> {aliases = array<i64: 1>}

// -----

// expected-error@+1 {{'exec.kernel' op expected one result beside 'aliases', found 2}}
exec.kernel @k : (memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {aliases = array<i64: 0>}

// -----

exec.program @missing attributes {
    arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64,
    inputs = [], outputs = [], weights = []} {
  // expected-error@+1 {{'exec.launch' op names kernel @relu, which does not exist}}
  exec.launch @relu []
}

// -----

exec.kernel @relu : (memref<4xf32>) -> ()
exec.program @notBinding attributes {
    arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64,
    inputs = [], outputs = [], weights = []} {
  // expected-error@+1 {{'exec.launch' op bindings must be #exec.binding, found 3 : i64}}
  exec.launch @relu [3]
}

// -----

exec.kernel @relu : (memref<4xf32>) -> memref<4xf32> // expected-note {{the kernel is here}}
exec.program @arity attributes {
    arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64,
    inputs = [], outputs = [], weights = []} {
  // expected-error@+1 {{'exec.launch' op gives 1 bindings, but its kernel takes 2}}
  exec.launch @relu [
    #exec.binding<input 0, offset = <0>, length = <16>, written = false>]
}

// -----

func.func @outside() {
  // expected-error@+1 {{'exec.barrier' op expects parent op to be one of 'exec.program, exec.if, exec.loop'}}
  exec.barrier
  return
}

// -----

// expected-error@+1 {{expected a map without dims and with one result, found 1 dims and 1 results}}
func.func private @dims() attributes {size = #exec.size<affine_map<(d0) -> (d0)>>}

// -----

// expected-error@+1 {{expected a map without dims and with one result, found 0 dims and 2 results}}
func.func private @results() attributes {size = #exec.size<affine_map<()[s0] -> (s0, 1)>>}

// -----

// expected-error@+2 {{expected ::ashlar::exec::Storage to be one of: input, output, weights, arena}}
// expected-error@+1 {{failed to parse Exec_BindingAttr parameter 'storage'}}
func.func private @storage() attributes {b = #exec.binding<disk 0, offset = <0>, length = <0>, written = false>}

// -----

exec.program @main attributes {
    arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64, inputs = [],
    outputs = [], weights = []} {
  // expected-error@+1 {{'exec.loop' op expected a condition or a number of iterations, found neither}}
  exec.loop {
  }
}

// -----

exec.program @main attributes {
    arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64, inputs = [],
    outputs = [], weights = []} {
  // expected-error@+1 {{'exec.loop' op expected a number of iterations, found -1}}
  exec.loop attributes {iterations = -1 : i64} {
  }
}

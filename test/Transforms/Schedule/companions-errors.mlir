// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-verify-stage=stage=schedule --split-input-file --verify-diagnostics

// A kernel is given what its own device has.
exec.kernel @remote : (memref<64xf32>) -> memref<64xf32> device 1
exec.program @main attributes {inputs = [{tensor = tensor<64xf32>}], outputs = [{tensor = tensor<64xf32>}], weights = [],
                               arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64, companion_arenas = array<i64: 256, 256>} {
  // expected-error @below {{expected binding 0 of kernel 'remote' in the memory of device 1, found}}
  exec.launch @remote [#exec.binding<input 0, offset = <0>, length = <256>, written = false>,
                       #exec.binding<arena 1, offset = <0>, length = <256>, written = true>]
}

// -----

// Nothing goes from one further device to another but through the first.
exec.program @main attributes {inputs = [{tensor = tensor<64xf32>}], outputs = [{tensor = tensor<64xf32>}], weights = [],
                               arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64, companion_arenas = array<i64: 256, 256, 256, 256>} {
  exec.copy <input 0, offset = <0>, length = <256>, written = false> to <arena 1, offset = <0>, length = <256>, written = true>
  exec.barrier
  // expected-error @below {{expected one end on device 0, found}}
  exec.copy <arena 1, offset = <0>, length = <256>, written = false> to <arena 2, offset = <0>, length = <256>, written = true>
}

// -----

// There are as many arenas as the program says.
exec.program @main attributes {inputs = [{tensor = tensor<64xf32>}], outputs = [{tensor = tensor<64xf32>}], weights = [],
                               arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64} {
  // expected-error @below {{names arena 1, but there are 1}}
  exec.copy <input 0, offset = <0>, length = <256>, written = false> to <arena 1, offset = <0>, length = <256>, written = true>
}

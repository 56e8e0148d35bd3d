// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-vectorize-steps --split-input-file --verify-diagnostics
// RUN: ashlar-opt %s --ashlar-form-matrices --split-input-file --verify-diagnostics

func.func @groups() {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected sums of one worker that all exist and stay in its registers; a strategy without 'group', 'masked' and 'partials' makes such}}
  %none = tile.init %zero : f32 to !tile.acc<4x8xf32, groups = [group lane [2, 8]]>
  return
}

// -----

func.func @memory(%m: memref<4x8xf32>) {
  // expected-error @+1 {{expected sums of one worker that all exist and stay in its registers}}
  %acc = tile.load %m {map = affine_map<(m, n) -> (m, n)>} : memref<4x8xf32> to !tile.acc<4x8xf32>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-schedule-pipeline --split-input-file --verify-diagnostics

// A stage that was left out is noticed by the next, at the op that it misses.
func.func @noTile(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be scheduled: expected kernels, views, constants and control flow after the stage tile}}
  %y = exec.dispatch(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    exec.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-fuse-pipeline --verify-diagnostics

// A pipeline works on one program: given several, it finds them untouched.
module {
  module @program_0 attributes {exec.target = #exec.target<"cpu", "host">} {
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error@+1 {{after the stage fuse: expected tensor constants, views, exec.dispatch, transfers, control flow and return in an entry, found 'linalg.add'}}
      %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
  }
}

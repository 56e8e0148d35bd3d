// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-outline-kernels --split-input-file --verify-diagnostics

// Which block computes an open size is not known.
#n = #exec.size<affine_map<()[s0] -> (s0)>, largest = 8>
func.func @branch(%x: tensor<8xf32> {exec.sizes = [#n]}, %c: tensor<i1>) -> tensor<8xf32> {
  %a = exec.dispatch(%x, %c) {exec.sizes = [[#n]]} : (tensor<8xf32>, tensor<i1>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>, %d: tensor<i1>):
    %flag = tensor.extract %d[] : tensor<i1>
    // expected-error @below {{sizes that a caller chooses: expected ops whose sizes can be values, found 'scf.if'; fix the sizes with --shape}}
    %r = scf.if %flag -> tensor<8xf32> {
      scf.yield %u : tensor<8xf32>
    } else {
      %e = tensor.empty() {exec.sizes = [[#n]]} : tensor<8xf32>
      %m = linalg.exp {exec.sizes = [[#n]]} ins(%u : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %m : tensor<8xf32>
    } {exec.sizes = [[#n]]}
    exec.yield %r : tensor<8xf32>
  }
  return %a : tensor<8xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-insert-transfers --ashlar-verify-stage=stage=fuse | FileCheck %s

// A tensor goes to another device once, however many read it there; constants
// and views of them are everywhere; results of the function are the host's.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>)
// CHECK: %[[XD:.*]] = exec.transfer %[[X]] to 1 : tensor<4xf32>
// CHECK: %[[A:.*]] = exec.dispatch(%[[XD]], %{{.*}}) {device = 1 : i64}
// CHECK: %[[AH:.*]] = exec.transfer %[[A]] to 0 : tensor<4xf32>
// CHECK: %[[B:.*]] = exec.dispatch(%[[AH]])
// CHECK: %[[BD:.*]] = exec.transfer %[[B]] to 1
// CHECK: %[[C:.*]] = exec.dispatch(%[[XD]], %[[BD]]) {device = 1 : i64}
// CHECK: %[[V:.*]] = tensor.expand_shape %[[C]]
// CHECK: %[[VH:.*]] = exec.transfer %[[V]] to 0 : tensor<2x2xf32>
// CHECK: return %[[AH]], %[[VH]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = exec.dispatch(%x, %w) {device = 1 : i64}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x0: tensor<4xf32>, %w0: tensor<4xf32>):
    exec.yield %x0 : tensor<4xf32>
  }
  %b = exec.dispatch(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a0: tensor<4xf32>):
    exec.yield %a0 : tensor<4xf32>
  }
  %c = exec.dispatch(%x, %b) {device = 1 : i64}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x0: tensor<4xf32>, %b0: tensor<4xf32>):
    exec.yield %b0 : tensor<4xf32>
  }
  %v = tensor.expand_shape %c [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %a, %v : tensor<4xf32>, tensor<2x2xf32>
}

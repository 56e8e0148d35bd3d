// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s --until=fuse --target=cpu:sapphirerapids | FileCheck %s

// 60 pairs of terms are four products of 15 pairs rather than three of 16 and
// one of 12: registers keep their shape, so two by two of them hold sums.
// CHECK: tile.contract
// CHECK-SAME: shape [16, 16, 30]
// CHECK-SAME: loop [32, 32 | _, _]

// 34 pairs are no three equal products. The last one's operands take registers
// of their own, which leaves three for sums.
// CHECK: tile.contract
// CHECK-SAME: shape [16, 16, 32]
// CHECK-SAME: loop [{{48, 16|16, 48}} | _, _]
func.func @main(%x: tensor<96x120xbf16>, %y: tensor<120x96xbf16>, %u: tensor<96x68xbf16>, %v: tensor<68x96xbf16>)
    -> (tensor<96x96xf32>, tensor<96x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x96xf32>) -> tensor<96x96xf32>
  %p = linalg.matmul ins(%x, %y : tensor<96x120xbf16>, tensor<120x96xbf16>)
                     outs(%f : tensor<96x96xf32>) -> tensor<96x96xf32>
  %q = linalg.matmul ins(%u, %v : tensor<96x68xbf16>, tensor<68x96xbf16>)
                     outs(%f : tensor<96x96xf32>) -> tensor<96x96xf32>
  return %p, %q : tensor<96x96xf32>, tensor<96x96xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product as somebody writes it down.
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
  %product = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>)
                           outs(%init : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %product : tensor<8x32xf32>
}

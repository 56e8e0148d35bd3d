// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layer written by hand, for docs/stages.md: relu(x * w + b).
func.func @main(%x: tensor<8x16xf32> {ashlar.name = "x"}, %w: tensor<16x32xf32>,
                %b: tensor<32xf32>) -> tensor<8x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
  %product = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>)
                           outs(%init : tensor<8x32xf32>) -> tensor<8x32xf32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : tensor<8x32xf32>, tensor<32xf32>)
      outs(%empty : tensor<8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x32xf32>
  return %sum : tensor<8x32xf32>
}

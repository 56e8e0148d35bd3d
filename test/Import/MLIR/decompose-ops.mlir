// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s --until=import | FileCheck %s

// Ops that stand for several become those, of dialects that all stages know.
// CHECK-NOT: = linalg.softmax
// CHECK-NOT: = linalg.pack
// CHECK-NOT: = linalg.unpack
// CHECK-NOT: index.
// CHECK: tensor.expand_shape
// CHECK-NOT: = linalg.softmax
// CHECK-NOT: = linalg.unpack
// CHECK: tensor.collapse_shape
// CHECK-NOT: index.
// CHECK: return
func.func @main(%x: tensor<8x15xf32>)
    -> (tensor<8x15xf32>, tensor<8x5xf32>, tensor<8x5xf32>) {
  %e = tensor.empty() : tensor<8x15xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<8x15xf32>)
      outs(%e : tensor<8x15xf32>) -> tensor<8x15xf32>
  %t = tensor.empty() : tensor<4x5x2x3xf32>
  %p = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %t
      : tensor<8x15xf32> -> tensor<4x5x2x3xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e
      : tensor<4x5x2x3xf32> -> tensor<8x15xf32>
  %a = tensor.extract_slice %x[0, 0] [8, 8] [1, 1]
      : tensor<8x15xf32> to tensor<8x8xf32>
  %b = tensor.expand_shape %a [[0, 1], [2]] output_shape [1, 8, 8]
      : tensor<8x8xf32> into tensor<1x8x8xf32>
  %r, %i = tosa.rfft2d %b
      : (tensor<1x8x8xf32>) -> (tensor<1x8x5xf32>, tensor<1x8x5xf32>)
  %c = tensor.collapse_shape %r [[0, 1], [2]]
      : tensor<1x8x5xf32> into tensor<8x5xf32>
  %d = tensor.collapse_shape %i [[0, 1], [2]]
      : tensor<1x8x5xf32> into tensor<8x5xf32>
  return %u, %c, %d : tensor<8x15xf32>, tensor<8x5xf32>, tensor<8x5xf32>
}

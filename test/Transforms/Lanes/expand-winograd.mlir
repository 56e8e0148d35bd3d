// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-winograd --ashlar-choose-strategies --ashlar-form-dispatches --ashlar-outline-kernels --ashlar-bufferize-kernels --ashlar-expand-winograd=vector-bytes=32 --mlir-elide-resource-strings-if-larger=10 | FileCheck %s

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (o, r, s, c)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// Boxes of rows: the input's 6x6 places in vectors of eight channels into
// scratch, a product for each place, the results' 4x4 places out of scratch.
// CHECK-LABEL: func.func private @k0_kernel
// CHECK: scf.forall
// Places are an odd number of boxes apart.
// CHECK: %[[IN:.*]] = memref.alloc() : memref<36x129x64xf32>
// CHECK: %[[OUT:.*]] = memref.alloc() : memref<36x129x64xf32>
// CHECK-COUNT-36: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-36: vector.store {{.*}} vector<8xf32>
// CHECK-DAG: %[[A:.*]] = memref.subview %[[IN]][0, 0, 0] [36, 128, 64] [1, 1, 1]
// CHECK-DAG: %[[D:.*]] = memref.subview %[[OUT]][0, 0, 0] [36, 128, 64] [1, 1, 1]
// CHECK: tile.contract a(%[[A]] : memref<36x128x64xf32, strided<[8256, 64, 1]>>) {{.*}} outs(%[[D]] : memref<36x128x64xf32, strided<[8256, 64, 1]>>)
// CHECK-SAME: parallel = array<i64: 36, 128, 64>, reduced = array<i64: 64>
// CHECK-COUNT-36: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-16: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: tile.winograd
func.func @convolution(%x: tensor<1x66x66x64xf32>) -> tensor<1x64x64x64xf32> {
  %w = arith.constant dense<0.01> : tensor<64x3x3x64xf32>
  %e = tensor.empty() : tensor<1x64x64x64xf32>
  %y = tile.contract a(%x : tensor<1x66x66x64xf32>) b(%w : tensor<64x3x3x64xf32>) outs(%e : tensor<1x64x64x64xf32>)
      attributes {parallel = array<i64: 1, 64, 64, 64>, reduced = array<i64: 3, 3, 64>, maps = [#a, #b, #y]} {
  ^bb0(%t: f32):
    tile.yield %t : f32
  } -> tensor<1x64x64x64xf32>
  return %y : tensor<1x64x64x64xf32>
}

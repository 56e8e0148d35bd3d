// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s --until=fuse --target=cpu:znver4 | FileCheck %s
// RUN: ashlar-compile %s --until=fuse --target=cpu:x86-64-v4 | FileCheck %s --check-prefix=SINGLE

// A machine that multiplies pairs of bf16 gets pairs: the terms are split, and
// the constant is packed with two of them side by side for each column.
// CHECK: tile.pack %{{.*}} columns = 1 order = [0] group = 2 : tensor<6x5xbf16> to tensor<1x3x16x2xbf16>
// CHECK: tile.contract
// CHECK-SAME: affine_map<(d0, d1, d2, d3) -> (d0, d2 * 2 + d3)>
// CHECK-SAME: affine_map<(d0, d1, d2, d3) -> (d1 floordiv 16, d2, d1 mod 16, d3)>
// CHECK-SAME: reduced = array<i64: 3, 2>
// CHECK-SAME: k [2 | 3], {{.*}}acc vectors

// What is not constant is put into pairs on the way.
// CHECK: tile.contract
// CHECK-SAME: reduced = array<i64: 3, 2>
// CHECK-SAME: k [2 | 3], {{.*}}b: pack

// An odd number of terms makes no pairs.
// CHECK: tile.contract
// CHECK-SAME: reduced = array<i64: 7>
// CHECK-NOT: k [{{.*}}|{{.*}}], loop

// SINGLE-NOT: group
func.func @main(%x: tensor<9x6xbf16>, %y: tensor<6x5xbf16>, %u: tensor<9x7xbf16>, %v: tensor<7x5xbf16>)
    -> (tensor<9x5xf32>, tensor<9x5xf32>, tensor<9x5xf32>) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 1.0], [2.0, 3.0, 4.0, 5.0, 6.0],
                             [7.0, 8.0, 9.0, 1.0, 2.0], [3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 1.0, 2.0, 3.0]]> : tensor<6x5xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9x5xf32>) -> tensor<9x5xf32>
  %a = linalg.matmul ins(%x, %w : tensor<9x6xbf16>, tensor<6x5xbf16>) outs(%f : tensor<9x5xf32>) -> tensor<9x5xf32>
  %b = linalg.matmul ins(%x, %y : tensor<9x6xbf16>, tensor<6x5xbf16>) outs(%f : tensor<9x5xf32>) -> tensor<9x5xf32>
  %c = linalg.matmul ins(%u, %v : tensor<9x7xbf16>, tensor<7x5xbf16>) outs(%f : tensor<9x5xf32>) -> tensor<9x5xf32>
  return %a, %b, %c : tensor<9x5xf32>, tensor<9x5xf32>, tensor<9x5xf32>
}

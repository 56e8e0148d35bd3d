// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-precision=type=f16 --verify-diagnostics | FileCheck %s
// RUN: not ashlar-opt %s --ashlar-lower-precision=type=f8 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: 'f8' is no type; expected f32, bf16 or f16

// Weights that f16 has no numbers for keep their op in f32, and are named with
// the largest of them.
// CHECK: linalg.generic {{.*}} : tensor<64x64xf32>, tensor<64x64xf32>) outs(%{{.*}} : tensor<64x64xf32>)
// CHECK-NOT: f16
func.func @overflow(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<-70000.0> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-warning@+1 {{weights of up to 70000.00 overflow f16, whose largest number is 65504; the node stays f32}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

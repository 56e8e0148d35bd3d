// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-place-operations=devices=systolic:tpu-128 --ashlar-form-dispatches --ashlar-absorb-rows=devices=systolic:tpu-128 | FileCheck %s
// RUN: ashlar-opt %s --ashlar-place-operations=devices=systolic:tpu-128 --ashlar-form-dispatches --ashlar-absorb-rows | FileCheck %s --check-prefix=ALONE

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// Sums along rows are part of the contraction whose results they are of.
// CHECK-LABEL: func.func @main
// CHECK: exec.dispatch
// CHECK: tile.contract
// CHECK: %[[SUM:.*]] = tile.row_sum %{{.*}} over [1] : f32
// CHECK: arith.divf %{{.*}}, %[[SUM]]
// CHECK: tile.yield
// CHECK-NOT: linalg.generic
// Where no device says that it can, they are kernels of the host.
// ALONE-LABEL: func.func @main
// ALONE-NOT: tile.row_sum
// ALONE: linalg.generic
func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %y = tile.contract a(%x : tensor<64x64xbf16>) b(%w : tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 64, 64>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<64x64xf32>
  %r = tensor.empty() : tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %rows = linalg.generic {indexing_maps = [#c, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<64x64xf32>) outs(%none : tensor<64xf32>) {
  ^bb0(%v: f32, %all: f32):
    %s = arith.addf %all, %v : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#c, #row, #c], iterator_types = ["parallel", "parallel"]}
      ins(%y, %rows : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %all: f32, %o: f32):
    %s = arith.divf %v, %all : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %q : tensor<64x64xf32>
}

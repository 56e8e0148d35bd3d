// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-widen-factors=types=f16 --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-widen-factors=types=bf16 --split-input-file | FileCheck %s --check-prefix=OTHER

// Rows that are computed become f32 in front of the product, weights stay f16.
// CHECK-LABEL: func.func @product
// CHECK: %[[WEIGHT:.*]] = arith.constant dense{{.*}} : tensor<24x40xf16>
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<20x24xf16>) outs({{.*}} : tensor<20x24xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f16, %{{.*}}: f32):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[IN]] : f16 to f32
// CHECK-NEXT: linalg.yield %[[WIDE]]
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]], %[[WEIGHT]] : tensor<20x24xf32>, tensor<24x40xf16>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f16, %[[S:.*]]: f32):
// CHECK-NEXT: %[[Y:.*]] = arith.extf %[[B]] : f16 to f32
// CHECK-NEXT: arith.mulf %[[A]], %[[Y]] : f32
// OTHER-LABEL: func.func @product
// OTHER: ins(%arg0, %{{.*}} : tensor<20x24xf16>, tensor<24x40xf16>)
func.func @product(%a: tensor<20x24xf16>) -> tensor<20x40xf32> {
  %w = arith.constant dense<0.5> : tensor<24x40xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<20x24xf16>, tensor<24x40xf16>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f16, %v: f16, %s: f32):
    %p = arith.extf %u : f16 to f32
    %q = arith.extf %v : f16 to f32
    %r = arith.mulf %p, %q : f32
    %t = arith.addf %s, %r : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

// -----

// What is no sum of products of two operands is left alone: a mean.
// CHECK-LABEL: func.func @sums
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<20x24xf16>)
func.func @sums(%a: tensor<20x24xf16>) -> tensor<20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20xf32>) -> tensor<20xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<20x24xf16>) outs(%z : tensor<20xf32>) {
  ^bb0(%u: f16, %s: f32):
    %p = arith.extf %u : f16 to f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20xf32>
  return %y : tensor<20xf32>
}

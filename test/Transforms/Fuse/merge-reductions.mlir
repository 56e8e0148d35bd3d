// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-dispatches --ashlar-merge-reductions --split-input-file | FileCheck %s

#x = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#y = affine_map<(d0) -> (d0)>

// A mean and a maximum of the same rows: one op sums both, one more divides the
// first and hands on the second.
// CHECK-LABEL: func.func @mean_and_maximum
// CHECK: %[[R:.*]]:2 = exec.dispatch(%arg0) : (tensor<10x16xf32>) -> (tensor<10xf32>, tensor<10xf32>)
// CHECK: %[[S:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{[^,]*}} : tensor<10x16xf32>) outs(%{{.*}}, %{{.*}} : tensor<10xf32>, tensor<10xf32>)
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: %[[F:.*]]:2 = linalg.generic {{.*}} ins(%[[S]]#0, %[[S]]#1 : tensor<10xf32>, tensor<10xf32>)
// CHECK: ^bb0(%{{[^,]*}}: f32, %[[MAX:[^,]*]]: f32,
// CHECK: %[[MEAN:.*]] = arith.divf
// CHECK: linalg.yield %[[MEAN]], %[[MAX]] : f32, f32
// CHECK: exec.yield %[[F]]#0, %[[F]]#1
// CHECK-NOT: exec.dispatch
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @mean_and_maximum(%x: tensor<10x16xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %count = arith.constant 16.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %s = linalg.generic {indexing_maps = [#x, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<10x16xf32>) outs(%z : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<10xf32>
  %mean = linalg.generic {indexing_maps = [#y, #y], iterator_types = ["parallel"]} ins(%s : tensor<10xf32>) outs(%e : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %count : f32
    linalg.yield %c : f32
  } -> tensor<10xf32>
  %l = linalg.fill ins(%least : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %maximum = linalg.generic {indexing_maps = [#x, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<10x16xf32>) outs(%l : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<10xf32>
  return %mean, %maximum : tensor<10xf32>, tensor<10xf32>
}

// -----

#x = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Sums of rows and of columns, and one whose weights come from the first: none
// can be made with another.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: exec.dispatch
func.func @apart(%x: tensor<10x10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %rows = linalg.generic {indexing_maps = [#x, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<10x10xf32>) outs(%z : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<10xf32>
  %columns = linalg.generic {indexing_maps = [#x, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<10x10xf32>) outs(%z : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<10xf32>
  %weighed = linalg.generic {indexing_maps = [#x, #column, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %rows : tensor<10x10xf32>, tensor<10xf32>) outs(%z : tensor<10xf32>) {
  ^bb0(%a: f32, %w: f32, %b: f32):
    %d = arith.subf %a, %w : f32
    %c = arith.addf %d, %b : f32
    linalg.yield %c : f32
  } -> tensor<10xf32>
  return %columns, %weighed : tensor<10xf32>, tensor<10xf32>
}

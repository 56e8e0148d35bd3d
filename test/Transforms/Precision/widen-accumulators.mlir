// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-widen-accumulators | FileCheck %s

// Sums are f64, and so are the products that are their terms; the result is
// rounded once.
// CHECK-LABEL: func.func @product
func.func @product(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>,
                   %c: tensor<3x7xf32>) -> tensor<3x7xf32> {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x7xf32>) outs(%{{.*}} : tensor<3x7xf64>)
  // CHECK: arith.extf
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x5xf32>, tensor<5x7xf32>) outs(%{{.*}} : tensor<3x7xf64>)
  // CHECK: arith.extf
  // CHECK: arith.extf
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f64
  // CHECK: arith.addf %{{.*}}, %{{.*}} : f64
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x7xf64>) outs(%{{.*}} : tensor<3x7xf32>)
  // CHECK: arith.truncf
  %0 = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>)
      outs(%c : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

// -----

// A term that is no product keeps its type, as does a maximum beside the sum.
// CHECK-LABEL: func.func @sum_and_maximum
func.func @sum_and_maximum(%x: tensor<4x9xf32>, %s: tensor<4xf32>,
                           %m: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4xf64>, tensor<4xf32>)
  // CHECK: ^bb0(%[[X:.*]]: f32, %[[SUM:.*]]: f64, %[[MOST:.*]]: f32):
  // CHECK: %[[EXP:.*]] = math.exp %[[X]] : f32
  // CHECK: %[[TERM:.*]] = arith.extf %[[EXP]] : f32 to f64
  // CHECK: arith.addf %[[SUM]], %[[TERM]] : f64
  // CHECK: arith.maximumf %[[X]], %[[MOST]] : f32
  %0:2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0)>,
                       affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x9xf32>) outs(%s, %m : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%e: f32, %sum: f32, %most: f32):
    %p = math.exp %e : f32
    %t = arith.addf %sum, %p : f32
    %n = arith.maximumf %e, %most : f32
    linalg.yield %t, %n : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What rounds its sum on every step does so because its definition says so;
// integers are exact; without a reduction nothing accumulates.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: f64
func.func @left_alone(%x: tensor<9xbf16>, %i: tensor<9xi32>, %y: tensor<9xf32>,
                      %s: tensor<bf16>, %t: tensor<i32>)
    -> (tensor<bf16>, tensor<i32>, tensor<9xf32>) {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<9xbf16>) outs(%s : tensor<bf16>) {
  ^bb0(%e: bf16, %sum: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %sum : bf16 to f32
    %c = arith.addf %a, %b : f32
    %d = arith.truncf %c : f32 to bf16
    linalg.yield %d : bf16
  } -> tensor<bf16>
  %1 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]}
      ins(%i : tensor<9xi32>) outs(%t : tensor<i32>) {
  ^bb0(%e: i32, %sum: i32):
    %a = arith.addi %e, %sum : i32
    linalg.yield %a : i32
  } -> tensor<i32>
  %2 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%y : tensor<9xf32>) outs(%y : tensor<9xf32>) {
  ^bb0(%e: f32, %o: f32):
    %a = arith.addf %e, %o : f32
    linalg.yield %a : f32
  } -> tensor<9xf32>
  return %0, %1, %2 : tensor<bf16>, tensor<i32>, tensor<9xf32>
}

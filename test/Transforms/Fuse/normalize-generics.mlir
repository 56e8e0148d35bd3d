// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-normalize-generics --split-input-file | FileCheck %s

// A named op becomes generic. It began at a tensor: now it begins at zero.
// CHECK-LABEL: func.func @accumulates
// CHECK-SAME: %[[A:.*]]: tensor<3x5xf32>, %[[B:.*]]: tensor<5x4xf32>, %[[C:.*]]: tensor<3x4xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] {{.*}} outs(%[[ZERO]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[C]], %[[SUM]]
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32)
// CHECK-NEXT: arith.addf %[[X]], %[[Y]]
// CHECK: return %[[R]]
func.func @accumulates(%a: tensor<3x5xf32>, %b: tensor<5x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// Sizes that are not known yet stay so.
// CHECK-LABEL: func.func @dynamic
// CHECK: tensor.dim
// CHECK: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// CHECK-NOT: linalg.matmul
func.func @dynamic(%a: tensor<?x5xf32>, %b: tensor<5x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x5xf32>, tensor<5x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// What begins at a fill stays as it is, and so do a fill itself and a sum
// whose start is used twice.
// CHECK-LABEL: func.func @stays
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
#row = affine_map<(m, k) -> (m, k)>
#sum = affine_map<(m, k) -> (m)>
func.func @stays(%a: tensor<3x5xi32>, %b: tensor<3x5xi32>, %c: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<3xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %r = linalg.generic {indexing_maps = [#row, #row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<3x5xi32>, tensor<3x5xi32>) outs(%f : tensor<3xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %p = arith.muli %x, %y : i32
    %t = arith.addi %p, %s : i32
    linalg.yield %t : i32
  } -> tensor<3xi32>
  %q = linalg.generic {indexing_maps = [#row, #row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<3x5xi32>, tensor<3x5xi32>) outs(%c : tensor<3xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %p = arith.muli %x, %s : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<3xi32>
  return %r, %q : tensor<3xi32>, tensor<3xi32>
}

// -----

// A tile of what is read backwards would be the slice that lies before it.
// CHECK-LABEL: func.func @backwards
// CHECK-SAME: %[[A:.*]]: tensor<7x3xf32>, %[[B:.*]]: tensor<7x3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[B]] : tensor<7x3xf32>)
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: %[[BACK:.*]] = arith.addi
// CHECK: %[[X:.*]] = tensor.extract %[[A]][%[[BACK]], %[[COLUMN]]]
// CHECK: arith.addf %[[X]]
func.func @backwards(%a: tensor<7x3xf32>, %b: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %e = tensor.empty() : tensor<7x3xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (-d0 + 6, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<7x3xf32>, tensor<7x3xf32>) outs(%e : tensor<7x3xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<7x3xf32>
  return %r : tensor<7x3xf32>
}

// -----

// A mean that kept its dim as one of size 1 is read without it, so that the
// kernel of a norm sees what makes it.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @keptDims
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<8x16xf32>) outs
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[ROWS]], #{{.*}}], {{.*}} ins(%arg0, %[[SUM]] : tensor<8x16xf32>, tensor<8xf32>)
func.func @keptDims(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%u: f32, %t: f32):
    %a = arith.addf %t, %u : f32
    linalg.yield %a : f32
  } -> tensor<8xf32>
  %kept = tensor.expand_shape %s [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, 0)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %kept : tensor<8x16xf32>, tensor<8x1xf32>) outs(%f : tensor<8x16xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %a = arith.subf %u, %v : f32
    linalg.yield %a : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// The terms of an outer product are one; the range of their loop is read from
// the operand that keeps its unit dim, as without a kernel before it.
// CHECK-LABEL: func.func @outerProduct
// CHECK: tensor.expand_shape
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<8xf32>, tensor<1x16xf32>)
func.func @outerProduct(%x: tensor<8xf32>, %y: tensor<16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<16xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      ins(%y : tensor<16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<16xf32>
  %right = tensor.expand_shape %n [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %right : tensor<8xf32>, tensor<1x16xf32>) outs(%z : tensor<8x16xf32>) {
  ^bb0(%u: f32, %v: f32, %t: f32):
    %p = arith.mulf %u, %v : f32
    %a = arith.addf %t, %p : f32
    linalg.yield %a : f32
  } -> tensor<8x16xf32>
  return %s : tensor<8x16xf32>
}

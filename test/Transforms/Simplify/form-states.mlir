// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-states --split-input-file | FileCheck %s

// What is new is put behind what was there, in one place of the largest shape;
// who reads either reads a part of it.
// CHECK-LABEL: func.func @grows
// CHECK-SAME: %[[PAST:.*]]: tensor<2x9xf32> {ashlar.name = "past", exec.state_shape = array<i64: 2, 5>}, %[[NEW:.*]]: tensor<2x1xf32>)
// CHECK-SAME: -> (tensor<2x9xf32> {ashlar.name = "all", exec.state = 0 : i64, exec.state_shape = array<i64: 2, 6>}, tensor<2x6xf32>, tensor<2x5xf32>)
// CHECK-DAG: %[[OLD:.*]] = tensor.extract_slice %[[PAST]][0, 0] [2, 5] [1, 1] : tensor<2x9xf32> to tensor<2x5xf32>
// CHECK-DAG: %[[CHANGED:.*]] = tensor.insert_slice %[[NEW]] into %[[PAST]][0, 5] [2, 1] [1, 1]
// CHECK: %[[ALL:.*]] = tensor.extract_slice %[[CHANGED]][0, 0] [2, 6] [1, 1] : tensor<2x9xf32> to tensor<2x6xf32>
// CHECK: linalg.exp ins(%[[ALL]]
// CHECK: linalg.exp ins(%[[OLD]]
// CHECK: return %[[CHANGED]],
func.func @grows(%past: tensor<2x5xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64: 2, 9>}}, %new: tensor<2x1xf32>)
    -> (tensor<2x6xf32> {ashlar.name = "all"}, tensor<2x6xf32>, tensor<2x5xf32>) {
  %all = tensor.concat dim(1) %past, %new : (tensor<2x5xf32>, tensor<2x1xf32>) -> tensor<2x6xf32>
  %e = tensor.empty() : tensor<2x6xf32>
  %x = linalg.exp ins(%all : tensor<2x6xf32>) outs(%e : tensor<2x6xf32>) -> tensor<2x6xf32>
  %f = tensor.empty() : tensor<2x5xf32>
  %y = linalg.exp ins(%past : tensor<2x5xf32>) outs(%f : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %all, %x, %y : tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x5xf32>
}

// -----

// Without a largest shape it is that of the result. Several parts are joined
// first.
// CHECK-LABEL: func.func @several
// CHECK-SAME: %[[PAST:.*]]: tensor<6xf32>
// CHECK: %[[BOTH:.*]] = tensor.concat dim(0) %{{.*}}, %{{.*}} : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
// CHECK: tensor.insert_slice %[[BOTH]] into %[[PAST]][3] [3] [1]
func.func @several(%past: tensor<3xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}}, %a: tensor<1xf32>, %b: tensor<2xf32>)
    -> (tensor<6xf32> {ashlar.name = "all"}) {
  %all = tensor.concat dim(0) %past, %a, %b : (tensor<3xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %all : tensor<6xf32>
}

// -----

// Nothing was there: all is new, whatever made it.
// CHECK-LABEL: func.func @begins
// CHECK: %[[X:.*]] = linalg.exp
// CHECK: %[[CHANGED:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x9xf32>
// CHECK: return %[[CHANGED]] : tensor<2x9xf32>
func.func @begins(%past: tensor<2x0xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64: 2, 9>}}, %new: tensor<2x3xf32>)
    -> (tensor<2x3xf32> {ashlar.name = "all"}) {
  %e = tensor.empty() : tensor<2x3xf32>
  %x = linalg.exp ins(%new : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %x : tensor<2x3xf32>
}

// -----

// Nothing is new: it stays as it is.
// CHECK-LABEL: func.func @stays
// CHECK-SAME: %[[PAST:.*]]: tensor<2x9xf32>
// CHECK: return %[[PAST]] : tensor<2x9xf32>
func.func @stays(%past: tensor<2x4xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64: 2, 9>}})
    -> (tensor<2x4xf32> {ashlar.name = "all"}) {
  return %past : tensor<2x4xf32>
}

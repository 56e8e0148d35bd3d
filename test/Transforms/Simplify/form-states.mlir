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

// -----

// Elements that are replaced are replaced in the place. Dims that were moved for
// the loop and moved back are indices in another order; who reads them moved
// moves them. Who asks for a shape alone, such as a dead slice, reads nothing.
// CHECK-LABEL: func.func @replaces
// CHECK-SAME: %[[PAST:.*]]: tensor<3x9x2xf32> {ashlar.name = "past", exec.state_shape = array<i64: 3, 8, 2>}
// CHECK-SAME: -> (tensor<3x9x2xf32> {ashlar.name = "all", exec.state = 0 : i64, exec.state_shape = array<i64: 3, 8, 2>},
// CHECK-NOT: linalg.transpose
// CHECK: %[[CHANGED:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[C:.*]] = %[[PAST]]) -> (tensor<3x9x2xf32>)
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[D:.*]] = %[[C]]) -> (tensor<3x9x2xf32>)
// CHECK: %[[OLD:.*]] = tensor.extract %[[D]][%[[I]], %{{.*}}, %[[J]]] : tensor<3x9x2xf32>
// CHECK: tensor.insert %{{.*}} into %[[D]][%[[I]], %{{.*}}, %[[J]]] : tensor<3x9x2xf32>
// CHECK: %[[ALL:.*]] = tensor.extract_slice %[[CHANGED]][0, 0, 0] [3, 8, 2] [1, 1, 1] : tensor<3x9x2xf32> to tensor<3x8x2xf32>
// CHECK: %[[MOVED:.*]] = linalg.transpose ins(%[[ALL]] : tensor<3x8x2xf32>) {{.*}} permutation = [1, 0, 2]
// CHECK: linalg.exp ins(%[[ALL]]
// CHECK: linalg.exp ins(%[[MOVED]]
// CHECK: return %[[CHANGED]],
func.func @replaces(%past: tensor<3x8x2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64: 3, 9, 2>}}, %places: tensor<3xindex>, %new: tensor<3x2xf32>)
    -> (tensor<3x8x2xf32> {ashlar.name = "all"}, tensor<3x8x2xf32>, tensor<8x3x2xf32>) {
  %dead = tensor.extract_slice %past[0, 0, 0] [1, 1, 1] [1, 1, 1] : tensor<3x8x2xf32> to tensor<1x1x1xf32>
  %m = tensor.empty() : tensor<8x3x2xf32>
  %moved = linalg.transpose ins(%past : tensor<3x8x2xf32>) outs(%m : tensor<8x3x2xf32>) permutation = [1, 0, 2]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %put = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %moved) -> (tensor<8x3x2xf32>) {
    %row = scf.for %j = %c0 to %c2 step %c1 iter_args(%d = %c) -> (tensor<8x3x2xf32>) {
      %at = tensor.extract %places[%i] : tensor<3xindex>
      %x = tensor.extract %new[%i, %j] : tensor<3x2xf32>
      %old = tensor.extract %d[%at, %i, %j] : tensor<8x3x2xf32>
      %sum = arith.addf %x, %old : f32
      %one = tensor.insert %sum into %d[%at, %i, %j] : tensor<8x3x2xf32>
      scf.yield %one : tensor<8x3x2xf32>
    }
    scf.yield %row : tensor<8x3x2xf32>
  }
  %b = tensor.empty() : tensor<3x8x2xf32>
  %all = linalg.transpose ins(%put : tensor<8x3x2xf32>) outs(%b : tensor<3x8x2xf32>) permutation = [1, 0, 2]
  %e = tensor.empty() : tensor<3x8x2xf32>
  %x = linalg.exp ins(%all : tensor<3x8x2xf32>) outs(%e : tensor<3x8x2xf32>) -> tensor<3x8x2xf32>
  %y = linalg.exp ins(%put : tensor<8x3x2xf32>) outs(%m : tensor<8x3x2xf32>) -> tensor<8x3x2xf32>
  return %all, %x, %y : tensor<3x8x2xf32>, tensor<3x8x2xf32>, tensor<8x3x2xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-bufferize-kernels --canonicalize --split-input-file | FileCheck %s

// A result is computed where it is wanted, without a buffer between.
// CHECK-LABEL: func.func private @inPlace
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>
// CHECK-NEXT: linalg.exp ins(%[[X]] : memref<8xf32>) outs(%[[Y]] : memref<8xf32>)
// CHECK-NEXT: return
func.func private @inPlace(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// A padding is a fill of the result and a copy into its middle.
// CHECK-LABEL: func.func private @pad
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<6xf32>
// CHECK-NOT: memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[Y]] : memref<6xf32>)
// CHECK: %[[MIDDLE:.*]] = memref.subview %[[Y]][1] [4] [1]
// CHECK: memref.copy %[[X]], %[[MIDDLE]]
func.func private @pad(%x: memref<4xf32>, %y: memref<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
  %r = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<6xf32>, memref<6xf32>) -> ()
  return
}

// -----

// A concatenation copies each part to its place in the result.
// CHECK-LABEL: func.func private @concat
// CHECK-SAME: %[[A:.*]]: memref<2xf32>, %[[B:.*]]: memref<3xf32>, %[[Y:.*]]: memref<5xf32>
// CHECK-NOT: memref.alloc
// CHECK: %[[FIRST:.*]] = memref.subview %[[Y]][0] [2] [1]
// CHECK: memref.copy %[[A]], %[[FIRST]]
// CHECK: %[[SECOND:.*]] = memref.subview %[[Y]][2] [3] [1]
// CHECK: memref.copy %[[B]], %[[SECOND]]
func.func private @concat(%a: memref<2xf32>, %b: memref<3xf32>, %y: memref<5xf32>) {
  %s = bufferization.to_tensor %a restrict : memref<2xf32> to tensor<2xf32>
  %t = bufferization.to_tensor %b restrict : memref<3xf32> to tensor<3xf32>
  %r = tensor.concat dim(0) %s, %t : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<5xf32>, memref<5xf32>) -> ()
  return
}

// -----

// Operands are never written: an op that updates one gets a copy of it.
// CHECK-LABEL: func.func private @readOnly
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[Z:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>
// CHECK-NOT: outs(%[[Z]]
// CHECK: return
func.func private @readOnly(%x: memref<8xf32>, %z: memref<8xf32>, %y: memref<8xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %o = bufferization.to_tensor %z restrict : memref<8xf32> to tensor<8xf32>
  %r = linalg.exp ins(%t : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// An entry is no kernel and stays on tensors.
// CHECK-LABEL: func.func @entry
// CHECK: tensor.collapse_shape
func.func @entry(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A loop carries one buffer: what a step hands on is put into it, since each
// allocation has one place for all steps.
// CHECK-LABEL: func.func private @carried
// CHECK: %[[STATE:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK: scf.for
// CHECK: %[[NEXT:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[STATE]], %[[STATE]] : {{.*}} outs(%[[NEXT]]
// CHECK: memref.copy %[[NEXT]], %[[STATE]]
// CHECK-NEXT: }
// CHECK: memref.copy %[[STATE]], %arg1
#id = affine_map<(i) -> (i)>
#back = affine_map<(i) -> (7 - i)>
func.func private @carried(%a: memref<8xf32>, %c: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %n = linalg.generic {indexing_maps = [#id, #back, #id], iterator_types = ["parallel"]}
        ins(%s, %s : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %t = arith.addf %u, %v : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// Where two change places, both are put aside first.
// CHECK-LABEL: func.func private @swapped
// CHECK: %[[X:.*]] = memref.alloc()
// CHECK-NEXT: memref.copy %arg0, %[[X]]
// CHECK: %[[Y:.*]] = memref.alloc()
// CHECK-NEXT: memref.copy %arg1, %[[Y]]
// CHECK: scf.for
// CHECK: memref.copy %[[Y]], %[[P:.*]] :
// CHECK: memref.copy %[[X]], %[[Q:.*]] :
// CHECK: memref.copy %[[P]], %[[X]]
// CHECK: memref.copy %[[Q]], %[[Y]]
// CHECK-NEXT: }
func.func private @swapped(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>, %d: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = bufferization.to_tensor %a restrict : memref<8xf32> to tensor<8xf32>
  %y = bufferization.to_tensor %b restrict : memref<8xf32> to tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x, %t = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %t, %s : tensor<8xf32>, tensor<8xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %c : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %d : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

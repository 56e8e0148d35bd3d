// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-dispatches --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-form-dispatches=fuse=false --split-input-file | FileCheck %s --check-prefix=APART

// A bias joins its matmul; the fill and the empty tensor are made inside.
// Without fusion each op is a dispatch of its own.
// CHECK-LABEL: func.func @epilogue
// CHECK-NEXT: %[[Y:.*]] = exec.dispatch(%arg0, %arg1, %arg2)
// CHECK: linalg.fill
// CHECK: linalg.matmul
// CHECK: linalg.generic
// CHECK: exec.yield
// CHECK: return %[[Y]]
// APART-LABEL: func.func @epilogue
// APART: exec.dispatch(%arg0, %arg1)
// APART: linalg.matmul
// APART: exec.dispatch
// APART: linalg.generic
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>,
                    %bias: tensor<16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %a = linalg.generic {indexing_maps = [#same, #row, #same],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m, %bias : tensor<4x16xf32>, tensor<16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %a : tensor<4x16xf32>
}

// -----

// A result that the function returns too must exist, so that its reader stays
// apart.
// CHECK-LABEL: func.func @twoReaders
// CHECK: %[[M:.*]] = exec.dispatch
// CHECK: %[[A:.*]] = exec.dispatch(%[[M]])
// CHECK: return %[[M]], %[[A]]
#same = affine_map<(i, j) -> (i, j)>
func.func @twoReaders(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>,
                      %init: tensor<4x16xf32>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %a = linalg.generic {indexing_maps = [#same, #same],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = math.exp %u : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %m, %a : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// An op that reads the sums in another order cannot finish them in place.
// CHECK-LABEL: func.func @transposed
// CHECK: exec.dispatch
// CHECK: linalg.matmul
// CHECK: exec.dispatch
// CHECK: linalg.generic
func.func @transposed(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>,
                      %init: tensor<4x16xf32>) -> tensor<16x4xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e = tensor.empty() : tensor<16x4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<4x16xf32>) outs(%e : tensor<16x4xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = math.exp %u : f32
    linalg.yield %s : f32
  } -> tensor<16x4xf32>
  return %a : tensor<16x4xf32>
}

// -----

// Constants, reshapes and slices of contiguous, aligned data stay outside.
// CHECK-LABEL: func.func @views
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tensor.collapse_shape
// CHECK-NEXT: tensor.extract_slice
// CHECK-NEXT: return
func.func @views(%x: tensor<2x16xf32>) -> (tensor<16xf32>, tensor<4xf32>) {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x16xf32> into tensor<32xf32>
  %s = tensor.extract_slice %flat[16] [16] [1] : tensor<32xf32> to tensor<16xf32>
  return %s, %c : tensor<16xf32>, tensor<4xf32>
}

// -----

// Slices with gaps, and those that begin between two cache lines, are copied.
// CHECK-LABEL: func.func @copies
// CHECK: exec.dispatch
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [2, 8] [1, 1]
// CHECK: exec.dispatch
// CHECK: tensor.extract_slice %{{.*}}[0, 4] [1, 12] [1, 1]
// CHECK: exec.dispatch
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [1, 8] [1, 2]
func.func @copies(%x: tensor<2x16xf32>)
    -> (tensor<2x8xf32>, tensor<1x12xf32>, tensor<1x8xf32>) {
  %a = tensor.extract_slice %x[0, 0] [2, 8] [1, 1] : tensor<2x16xf32> to tensor<2x8xf32>
  %b = tensor.extract_slice %x[0, 4] [1, 12] [1, 1] : tensor<2x16xf32> to tensor<1x12xf32>
  %c = tensor.extract_slice %x[0, 0] [1, 8] [1, 2] : tensor<2x16xf32> to tensor<1x8xf32>
  return %a, %b, %c : tensor<2x8xf32>, tensor<1x12xf32>, tensor<1x8xf32>
}

// -----

// A fill that the caller takes out must exist in memory.
// CHECK-LABEL: func.func @returnedFill
// CHECK: %[[F:.*]] = exec.dispatch()
// CHECK: linalg.fill
// CHECK: return %[[F]]
func.func @returnedFill() -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}

// -----

// A scalar read from a tensor is read again by the kernel that needs it.
// CHECK-LABEL: func.func @scalar
// CHECK-NEXT: exec.dispatch(%{{.*}}, %{{.*}}) : (tensor<8xf32>, tensor<f32>)
// CHECK: tensor.extract
// CHECK: linalg.generic
#same = affine_map<(i) -> (i)>
func.func @scalar(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %v = tensor.extract %s[] : tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

// What nothing reads becomes no kernel.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}

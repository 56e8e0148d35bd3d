// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-tile-kernels=cache-bytes=1024 --canonicalize --cse --split-input-file | FileCheck %s
// RUN: ashlar-opt %s "--ashlar-tile-kernels=cache-bytes=65536 boxes=256" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=MANY

// A box is as many elements as fit, 256 here, and a divisor of the extent.
// CHECK-LABEL: func.func private @boxes
// CHECK: scf.forall (%[[I:.*]]) = (0) to (1000) step (250)
// CHECK: %[[IN:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [250] [1]
// CHECK: linalg.exp ins(%[[IN]]
// CHECK: tensor.parallel_insert_slice
func.func private @boxes(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<1000xf32> to tensor<1000xf32>
  %e = tensor.empty() : tensor<1000xf32>
  %r = linalg.exp ins(%t : tensor<1000xf32>) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<1000xf32>, memref<1000xf32>) -> ()
  return
}

// -----

// Inner dims stay whole as far as they fit; the ops before the last are
// computed inside, on the box that they are needed for.
// CHECK-LABEL: func.func private @fused
// CHECK-NOT: linalg
// CHECK: scf.forall (%{{.*}}) = (0) to (64) step (4)
// CHECK: linalg.exp {{.*}} -> tensor<4x64xf32>
// CHECK: linalg.sqrt {{.*}} -> tensor<4x64xf32>
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg
func.func private @fused(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<64x64xf32> to tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %m = linalg.exp ins(%t : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.sqrt ins(%m : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}

// -----

// A result that fits into one box is left whole.
// CHECK-LABEL: func.func private @small
// CHECK-NOT: scf.forall
func.func private @small(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// Without parallel loops there is nothing to share.
// CHECK-LABEL: func.func private @sum
// CHECK-NOT: scf.forall
func.func private @sum(%x: memref<4096xf32>, %y: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x restrict : memref<4096xf32> to tensor<4096xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%t : tensor<4096xf32>) outs(%f : tensor<f32>) dimensions = [0]
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<f32>, memref<f32>) -> ()
  return
}

// -----

// Every box of a padding would need a guard, so it stays whole.
// CHECK-LABEL: func.func private @pad
// CHECK-NOT: scf.forall
func.func private @pad(%x: memref<4096xf32>, %y: memref<4098xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x restrict : memref<4096xf32> to tensor<4096xf32>
  %r = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4096xf32> to tensor<4098xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<4098xf32>, memref<4098xf32>) -> ()
  return
}

// -----

// Where boxes are wanted, sums of rows are cut until one has 2048 points or
// there are enough: 512 rows of 1024, two to a box. Sums of columns stay as wide
// as a line of 128 bytes.
// CHECK-LABEL: func.func private @row_sums
// CHECK: scf.forall (%{{.*}}) = (0) to (512) step (64)
// MANY-LABEL: func.func private @row_sums
// MANY: scf.forall (%{{.*}}) = (0) to (512) step (2)
func.func private @row_sums(%x: memref<512x1024xf32>, %y: memref<512xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<512x1024xf32> to tensor<512x1024xf32>
  %o = bufferization.to_tensor %y restrict : memref<512xf32> to tensor<512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<512x1024xf32>) outs(%o : tensor<512xf32>) {
  ^bb0(%a: f32, %s: f32):
    %z = arith.addf %a, %s : f32
    linalg.yield %z : f32
  } -> tensor<512xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<512xf32>, memref<512xf32>) -> ()
  return
}

// -----

// MANY-LABEL: func.func private @column_sums
// MANY: scf.forall (%{{.*}}) = (0) to (512) step (32)
func.func private @column_sums(%x: memref<1024x512xf32>, %y: memref<512xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<1024x512xf32> to tensor<1024x512xf32>
  %o = bufferization.to_tensor %y restrict : memref<512xf32> to tensor<512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<1024x512xf32>) outs(%o : tensor<512xf32>) {
  ^bb0(%a: f32, %s: f32):
    %z = arith.addf %a, %s : f32
    linalg.yield %z : f32
  } -> tensor<512xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<512xf32>, memref<512xf32>) -> ()
  return
}

// -----

// Rows that lie side by side in what is read come as many to a box as are in a
// line of 64 bytes: one alone would touch as many lines.
// CHECK-LABEL: func.func private @rows_side_by_side
// CHECK: scf.forall (%{{.*}}) = (0) to (64) step (16)
// MANY-LABEL: func.func private @rows_side_by_side
func.func private @rows_side_by_side(%x: memref<1024x64xf32>, %y: memref<64x1024xf32>) {
  %t = bufferization.to_tensor %x restrict : memref<1024x64xf32> to tensor<1024x64xf32>
  %o = bufferization.to_tensor %y restrict : memref<64x1024xf32> to tensor<64x1024xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<1024x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %z = arith.addf %a, %b : f32
    linalg.yield %z : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%t, %s : tensor<1024x64xf32>, tensor<64xf32>) outs(%o : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %z = arith.divf %a, %b : f32
    linalg.yield %z : f32
  } -> tensor<64x1024xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<64x1024xf32>, memref<64x1024xf32>) -> ()
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-cpu-flatten-strided-gathers | FileCheck %s

// Indices count elements of memory, so what they count from is a line of it.
// CHECK-LABEL: func.func @columns
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %arg0
// CHECK: %[[LINE:.*]] = memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%{{.*}}], strides: [1]
// CHECK: vector.gather %[[LINE]][%{{.*}}]
func.func @columns(%m: memref<8x4xf32, strided<[16, 2]>>, %i: index, %at: vector<4xindex>,
                   %mask: vector<4xi1>, %none: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.gather %m[%i, %i] [%at], %mask, %none
    : memref<8x4xf32, strided<[16, 2]>>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}

// What is contiguous already stays.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: vector.gather %arg0
func.func @rows(%m: memref<8x4xf32>, %i: index, %at: vector<4xindex>,
                %mask: vector<4xi1>, %none: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.gather %m[%i, %i] [%at], %mask, %none
    : memref<8x4xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-share-copies=box-bytes=1024 --split-input-file | FileCheck %s

// The first box fills the margins, above, below, left and right; each copies its
// rows.
// CHECK-LABEL: func.func @pad
// CHECK-NOT: linalg.fill
// CHECK: scf.forall (%[[ROW:.*]]) in (10) {
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[ROW]]
// CHECK: scf.if %[[FIRST]]
// CHECK: memref.subview %arg1[0, 0, 0] [1, 14, 16]
// CHECK: memref.subview %arg1[11, 0, 0] [1, 14, 16]
// CHECK: memref.subview %arg1[1, 0, 0] [10, 2, 16]
// CHECK: memref.subview %arg1[1, 12, 0] [10, 2, 16]
// CHECK: %[[FROM:.*]] = memref.subview %arg0[%[[ROW]], 0, 0] [1, 10, 16]
// CHECK: %[[TO:.*]] = memref.subview %arg1[%{{.*}}, 2, 0] [1, 10, 16]
// CHECK: memref.copy %[[FROM]], %[[TO]]
// CHECK: }
// CHECK-NOT: memref.copy
func.func @pad(%x: memref<10x10x16xf32>, %y: memref<12x14x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<12x14x16xf32>)
  %middle = memref.subview %y[1, 2, 0] [10, 10, 16] [1, 1, 1]
    : memref<12x14x16xf32> to memref<10x10x16xf32, strided<[224, 16, 1], offset: 256>>
  memref.copy %x, %middle : memref<10x10x16xf32> to memref<10x10x16xf32, strided<[224, 16, 1], offset: 256>>
  return
}

// -----

// What is joined along one dim is shared along another.
// CHECK-LABEL: func.func @join
// CHECK: scf.forall (%[[ROW:.*]]) = (0) to (8) step (4) {
// CHECK: memref.subview %arg0[0, %[[ROW]], 0] [2, 4, 16]
// CHECK: memref.subview %arg2[0, %[[ROW]], 0] [2, 4, 16]
// CHECK: memref.copy
// CHECK: memref.subview %arg1[0, %[[ROW]], 0] [3, 4, 16]
// CHECK: memref.subview %arg2[2, %[[ROW]], 0] [3, 4, 16]
// CHECK: memref.copy
// CHECK: }
// CHECK-NOT: memref.copy
func.func @join(%x: memref<2x8x16xf32>, %y: memref<3x8x16xf32>, %z: memref<5x8x16xf32>) {
  %first = memref.subview %z[0, 0, 0] [2, 8, 16] [1, 1, 1]
    : memref<5x8x16xf32> to memref<2x8x16xf32, strided<[128, 16, 1]>>
  memref.copy %x, %first : memref<2x8x16xf32> to memref<2x8x16xf32, strided<[128, 16, 1]>>
  %second = memref.subview %z[2, 0, 0] [3, 8, 16] [1, 1, 1]
    : memref<5x8x16xf32> to memref<3x8x16xf32, strided<[128, 16, 1], offset: 256>>
  memref.copy %y, %second : memref<3x8x16xf32> to memref<3x8x16xf32, strided<[128, 16, 1], offset: 256>>
  return
}

// -----

// Nothing is shared where there is no dim for it.
// CHECK-LABEL: func.func @line
// CHECK-NOT: scf.forall
// CHECK-COUNT-2: memref.copy
func.func @line(%x: memref<256xf32>, %y: memref<256xf32>, %z: memref<512xf32>) {
  %first = memref.subview %z[0] [256] [1] : memref<512xf32> to memref<256xf32, strided<[1]>>
  memref.copy %x, %first : memref<256xf32> to memref<256xf32, strided<[1]>>
  %second = memref.subview %z[256] [256] [1] : memref<512xf32> to memref<256xf32, strided<[1], offset: 256>>
  memref.copy %y, %second : memref<256xf32> to memref<256xf32, strided<[1], offset: 256>>
  return
}

// -----

// Nor where a kernel computes, too.
// CHECK-LABEL: func.func @other
// CHECK-NOT: scf.forall
// CHECK: linalg.exp
// CHECK: memref.copy
func.func @other(%x: memref<10x256xf32>, %z: memref<12x256xf32>) {
  linalg.exp ins(%x : memref<10x256xf32>) outs(%x : memref<10x256xf32>)
  %middle = memref.subview %z[1, 0] [10, 256] [1, 1]
    : memref<12x256xf32> to memref<10x256xf32, strided<[256, 1], offset: 256>>
  memref.copy %x, %middle : memref<10x256xf32> to memref<10x256xf32, strided<[256, 1], offset: 256>>
  return
}

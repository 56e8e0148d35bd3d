// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-cpu-lower-matrices=features=amx-tile,amx-bf16 | FileCheck %s
// RUN: ashlar-opt %s --ashlar-cpu-lower-matrices | FileCheck %s --check-prefix=VECTORS

// Registers are numbers in the instructions where the processor has them, set
// up before the first and given back behind the last; else rows are vectors.
// CHECK-LABEL: func.func @product
// CHECK: llvm.x86.ldtilecfg
// CHECK: llvm.x86.tileloadd64
// CHECK: llvm.x86.tileloadd64
// CHECK: llvm.x86.tilezero
// CHECK: llvm.x86.tdpbf16ps
// CHECK: llvm.x86.tilestored64
// CHECK: llvm.x86.tilerelease
// CHECK-NOT: tile.matrix
// VECTORS-LABEL: func.func @product
// VECTORS-NOT: llvm.x86
// VECTORS-NOT: tile.matrix
// VECTORS: vector.load
func.func @product(%a: memref<512xbf16>, %b: memref<512xbf16>, %c: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %none = tile.matrix_zero : <16x16xf32>
  %left = tile.matrix_load %a[%c0] stride = 32 : memref<512xbf16> to <16x32xbf16>
  %right = tile.matrix_load %b[%c0] stride = 32 : memref<512xbf16> to <16x32xbf16>
  %sums = tile.matrix_multiply %none, %left, %right : <16x16xf32>, <16x32xbf16>, <16x32xbf16>
  tile.matrix_store %sums to %c[%c0] stride = 16 : <16x16xf32> to memref<256xf32>
  return
}

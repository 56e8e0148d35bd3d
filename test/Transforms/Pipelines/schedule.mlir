// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-schedule-pipeline | FileCheck %s

// The entry is a program; its kernels stay.
// CHECK-NOT: func.func @main
// CHECK: exec.kernel @k
// CHECK: exec.program @main
// CHECK-NEXT: exec.launch @k

// So is one that the stages before made of IR by hand.
// RUN: ashlar-opt %S/Inputs/product.mlir --ashlar-fuse-pipeline --ashlar-tile-pipeline --ashlar-schedule-pipeline | FileCheck %s --check-prefix=WHOLE
// WHOLE: exec.program @main
// WHOLE-NEXT: exec.launch @k0
exec.kernel @k : (memref<4xf32>) -> memref<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exec.invoke @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

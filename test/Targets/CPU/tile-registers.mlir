// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s -o %t/module.ash --target=cpu:sapphirerapids --quiet --save-temps=%t --remarks=%t/remarks
// RUN: cat %t/cpu-sapphirerapids/*.ll | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS --input-file=%t/remarks
// RUN: ashlar-compile %s -o %t/v4.ash --target=cpu:x86-64-v4 --quiet --save-temps=%t
// RUN: cat %t/cpu-x86-64-v4/*.ll | FileCheck %s --check-prefix=VECTORS

// 100 rows and 100 columns leave edges of 4, which are boxes of other shapes:
// registers are configured for each box, outside the loops where all boxes are
// alike, and given back at the end. All of it is in tile registers.
// CHECK: call void @llvm.x86.ldtilecfg
// CHECK: call void @llvm.x86.tilezero(i8 0)
// CHECK: call void @llvm.x86.tileloadd64(i8
// CHECK: call void @llvm.x86.tdpbf16ps(i8
// CHECK: call void @llvm.x86.tilestored64(i8
// CHECK: call void @llvm.x86.ldtilecfg
// CHECK: call void @llvm.x86.tilerelease()
// CHECK-NOT: internal(
// REMARKS: in registers of the matrix unit
// REMARKS-NOT: multiplies on vectors
// VECTORS-NOT: llvm.x86.tile
func.func @main(%x: tensor<100x64xbf16>, %w: tensor<64x100xbf16>) -> tensor<100x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x100xf32>) -> tensor<100x100xf32>
  %y = linalg.matmul ins(%x, %w : tensor<100x64xbf16>, tensor<64x100xbf16>)
                     outs(%f : tensor<100x100xf32>) -> tensor<100x100xf32>
  return %y : tensor<100x100xf32>
}

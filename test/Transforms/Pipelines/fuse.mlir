// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-fuse-pipeline | FileCheck %s
// RUN: ashlar-opt %s --ashlar-fuse-pipeline=fuse=none | FileCheck %s --check-prefix=NONE
// RUN: ashlar-opt %S/Inputs/product.mlir --ashlar-fuse-pipeline=target=cpu:x86-64-v4 | FileCheck %s --check-prefix=WIDE
// RUN: ashlar-opt %S/Inputs/product.mlir --ashlar-fuse-pipeline=target=reference | FileCheck %s --check-prefix=REFERENCE

// Chains of elementwise ops are one dispatch; the view stays outside.
// CHECK: func.func @main
// CHECK-NEXT: tensor.collapse_shape
// CHECK-NEXT: exec.dispatch
// CHECK: math.exp
// CHECK-NEXT: math.sin
// CHECK-NOT: exec.dispatch

// The level is an option: without fusion, each op is a dispatch.
// NONE-COUNT-2: exec.dispatch

// The target decides on strategies; the reference has none.
// WIDE: tile.contract
// WIDE-SAME: 16
// REFERENCE: exec.dispatch
// REFERENCE-NOT: tile.contract
#same = affine_map<(i) -> (i)>
func.func @main(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%flat : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.exp %u : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.sin %u : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %b : tensor<8xf32>
}

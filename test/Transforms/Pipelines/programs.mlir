// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-fuse-pipeline | FileCheck %s
// RUN: ashlar-opt %s --ashlar-fuse-pipeline --ashlar-tile-pipeline | FileCheck %s --check-prefix=TILE

// A stage runs on every program, for the target that the program names.
// CHECK: module @program_0
// CHECK: tile.contract
// CHECK: module @program_1
// CHECK-NOT: tile.contract
// CHECK: linalg.matmul

// TILE: module @program_0
// TILE: vector<8xf32>
// TILE: module @program_1
// TILE-NOT: vector<
// TILE: scf.for
module {
  module @program_0 attributes {exec.target = #exec.target<"cpu", "x86-64-v3">} {
    func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %z = linalg.matmul ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
      return %z : tensor<8x8xf32>
    }
  }
  module @program_1 attributes {exec.target = #exec.target<"reference", "generic">} {
    func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %z = linalg.matmul ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
      return %z : tensor<8x8xf32>
    }
  }
}

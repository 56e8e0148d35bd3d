// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-import-pipeline | FileCheck %s
// RUN: ashlar-opt %s --ashlar-import-pipeline --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=NODES
// RUN: ashlar-opt %s --ashlar-import-pipeline | ashlar-opt --ashlar-import-pipeline | FileCheck %s
// RUN: ashlar-opt %s --ashlar-import-pipeline --mlir-print-local-scope > %t && ashlar-compile %s --until=import | diff %t -

// What is written by hand gets what later stages need: ops of linalg for those
// of TOSA, names of arguments and results, and of the model's nodes. What an
// importer made stays as it is, but for its names if they were not printed.
// CHECK: module attributes {ashlar.nodes = ["
// CHECK: func.func @main(%{{.*}}: tensor<8xf32> {ashlar.name = "x", ashlar.type = "float"}, %{{.*}}: tensor<8xf32> {ashlar.name = "arg1", ashlar.type = "float"})
// CHECK-SAME: -> (tensor<8xf32> {ashlar.name = "out0", ashlar.type = "float"})
// CHECK-NOT: tosa
// CHECK: arith.addf
// CHECK-NOT: tosa
// NODES: arith.addf {{.*}} loc("tosa.add@
func.func @main(%x: tensor<8xf32> {ashlar.name = "x"}, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = tosa.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

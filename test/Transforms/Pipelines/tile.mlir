// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-tile-pipeline | FileCheck %s
// RUN: ashlar-opt %s --ashlar-tile-pipeline=target=cpu:x86-64-v4 | FileCheck %s --check-prefix=WIDE
// RUN: ashlar-opt %s --ashlar-tile-pipeline=target=reference | FileCheck %s --check-prefix=LOOPS

// Every dispatch is a kernel of loops over vectors; one that is larger than a
// box is shared out in groups.
// CHECK: exec.invoke @k0_kernel
// CHECK: exec.kernel @k0_kernel calls @k0_kernel_body
// CHECK-SAME: grid [#exec.size<8>] scratch 0
// CHECK: func.func private @k0_kernel_body
// CHECK-SAME: memref<0xi8>, %[[BEGIN:.*]]: index, %[[END:.*]]: index
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: scf.for
// CHECK: vector.load
// CHECK-NEXT: math.exp
// CHECK-NEXT: vector.store
// CHECK-NOT: memref.copy
// Vectors are as wide as the target's; the reference has plain loops.
// WIDE: vector.load {{.*}} vector<16xf32>
// LOOPS: scf.for
// LOOPS-NOT: vector
func.func @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %y = exec.dispatch(%x) : (tensor<65536xf32>) -> tensor<65536xf32> {
  ^bb0(%a: tensor<65536xf32>):
    %e = tensor.empty() : tensor<65536xf32>
    %m = linalg.exp ins(%a : tensor<65536xf32>) outs(%e : tensor<65536xf32>) -> tensor<65536xf32>
    exec.yield %m : tensor<65536xf32>
  }
  return %y : tensor<65536xf32>
}

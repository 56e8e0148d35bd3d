// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s -o %t/two.ash --target=reference,cpu:x86-64 --quiet
// RUN: ashlar-inspect %t/two.ash | FileCheck %s
// RUN: ashlar-inspect %t/two.ash --json | FileCheck %s --check-prefix=JSON
// RUN: ashlar-compile %s -o %t/variants.ash --target=cpu:x86-64,cpu:x86-64-v3 --quiet
// RUN: ashlar-inspect %t/variants.ash | FileCheck %s --check-prefix=VARIANTS

// Whichever stands first, vectors are faster than plain loops.
// CHECK: program reference:generic: not taken, slower, predicted {{[0-9]+}} us
// CHECK: program cpu:x86-64: taken, on cpu:0, predicted {{[0-9]+}} us
// JSON-COUNT-2: "predicted_ns": {{[1-9][0-9]*}}
// Of one target's variants the first is taken: that is for whoever compiles.
// VARIANTS: program cpu:x86-64: taken, on cpu:0
func.func @main(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul ins(%x, %y : tensor<256x256xf32>, tensor<256x256xf32>)
                     outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %p : tensor<256x256xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// RUN: ashlar-compile %s -o %t.ash --target=cpu:znver4 --quiet
// RUN: ashlar-inspect %t.ash --disassemble=k0_product > %t.code
// RUN: FileCheck %s < %t.code
// RUN: %python %S/hot_loop.py --at-least=80 < %t.code

// Pairs of bf16 go to the instruction for them, and its sums stay in registers.
// CHECK: vdpbf16ps {{.*}}%zmm
func.func @main(%x: tensor<384x768xbf16>, %w: tensor<768x768xbf16>) -> tensor<384x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<384x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<384x768xf32>) -> tensor<384x768xf32>
  %y = linalg.matmul ins(%x, %w : tensor<384x768xbf16>, tensor<768x768xbf16>)
      outs(%f : tensor<384x768xf32>) -> tensor<384x768xf32> loc("product")
  return %y : tensor<384x768xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// RUN: ashlar-compile %s -o %t.v4.ash --target=cpu:x86-64-v4 --quiet
// RUN: ashlar-inspect %t.v4.ash --disassemble=k1_product > %t.v4
// RUN: %python %S/hot_loop.py --at-least=80 --stack-at-most=2 < %t.v4
// RUN: ashlar-compile %s -o %t.v3.ash --target=cpu:x86-64-v3 --quiet
// RUN: ashlar-inspect %t.v3.ash --disassemble=k1_product > %t.v3
// RUN: %python %S/hot_loop.py --at-least=32 < %t.v3

// The inner loop of a matrix product holds its sums in registers, four terms of
// each written out: all of them on 16 registers, all but one of 27 on 32, which
// LLVM's allocator takes through the stack once in four terms. (Kernel 0 brings
// the second operand into panels.)
func.func @main(%x: tensor<384x768xf32>, %w: tensor<768x768xf32>) -> tensor<384x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<384x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<384x768xf32>) -> tensor<384x768xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<384x768xf32>, tensor<768x768xf32>) outs(%f : tensor<384x768xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<384x768xf32> loc("product")
  return %y : tensor<384x768xf32>
}

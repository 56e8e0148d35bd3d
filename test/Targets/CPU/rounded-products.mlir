// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// RUN: ashlar-compile %s -o %t.ash --target=cpu:x86-64-v4 --quiet
// RUN: ashlar-inspect %t.ash --disassemble=k0_floats | FileCheck %s --check-prefix=FLOATS
// RUN: ashlar-inspect %t.ash --disassemble=k1_whole | FileCheck %s --check-prefix=WHOLE

// A product is contracted with a sum, but not where the result is rounded to a
// whole number: there the product's last bit decides.
// FLOATS: vfmadd
// WHOLE-NOT: vfmadd
// WHOLE: vrndscaleps
// WHOLE-NOT: vfmadd
func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %scale = arith.constant 0.3 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>,
                                        affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %scale : f32
    %s = arith.addf %p, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32> loc("floats")
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>,
                                        affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%y, %x : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %scale : f32
    %s = arith.addf %p, %b : f32
    %r = math.roundeven %s : f32
    linalg.yield %r : f32
  } -> tensor<64x32xf32> loc("whole")
  return %0, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}

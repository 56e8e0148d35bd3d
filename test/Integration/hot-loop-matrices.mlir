// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// RUN: ashlar-compile %s -o %t.ash --target=cpu:sapphirerapids --quiet --remarks=- | FileCheck %s --check-prefix=REMARK
// RUN: ashlar-inspect %t.ash --disassemble=k0_product > %t.floats
// RUN: FileCheck %s --check-prefix=FLOATS < %t.floats
// RUN: %python %S/hot_loop.py --at-least=4 < %t.floats
// RUN: ashlar-inspect %t.ash --disassemble=k1_counts > %t.integers
// RUN: FileCheck %s --check-prefix=INTEGERS < %t.integers
// RUN: %python %S/hot_loop.py --at-least=4 < %t.integers

// REMARK: 'product'{{.*}} a tile of 32x32 in registers of the matrix unit tile-bf16
// REMARK: 'counts'{{.*}} a tile of 32x32 in registers of the matrix unit tile-int8

// Tile registers hold four boxes of sums, and none is spilled in the loop.
// FLOATS: ldtilecfg
// FLOATS: tdpbf16ps
// FLOATS: tilestored
// INTEGERS: tdpbusd
func.func @main(%x: tensor<384x768xbf16>, %w: tensor<768x768xbf16>,
                %u: tensor<384x768xi8>, %v: tensor<768x768xi8>)
    -> (tensor<384x768xf32>, tensor<384x768xi32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<384x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<384x768xf32>) -> tensor<384x768xf32>
  %y = linalg.matmul ins(%x, %w : tensor<384x768xbf16>, tensor<768x768xbf16>)
      outs(%f : tensor<384x768xf32>) -> tensor<384x768xf32> loc("product")
  %none = arith.constant 0 : i32
  %g = tensor.empty() : tensor<384x768xi32>
  %h = linalg.fill ins(%none : i32) outs(%g : tensor<384x768xi32>) -> tensor<384x768xi32>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                        affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%u, %v : tensor<384x768xi8>, tensor<768x768xi8>) outs(%h : tensor<384x768xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<384x768xi32> loc("counts")
  return %y, %z : tensor<384x768xf32>, tensor<384x768xi32>
}

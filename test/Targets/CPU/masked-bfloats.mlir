// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s -o %t.ash --target=cpu:x86-64-v3,cpu:x86-64-v4,cpu:aarch64 --quiet

// Seven columns are stored under a mask of eight lanes, which these machines
// lack for 16 bits. No conversion is called that no library has.
func.func @main(%x: tensor<1x1xbf16>, %w: tensor<1x7xbf16>) -> tensor<1x7xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x7xf32>) -> tensor<1x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x1xbf16>, tensor<1x7xbf16>) outs(%f : tensor<1x7xf32>) {
  ^bb0(%u: bf16, %v: bf16, %s: f32):
    %a = arith.extf %u : bf16 to f32
    %b = arith.extf %v : bf16 to f32
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x7xf32>
  %d = tensor.empty() : tensor<1x7xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<1x7xf32>) outs(%d : tensor<1x7xbf16>) {
  ^bb0(%u: f32, %o: bf16):
    %t = arith.truncf %u : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x7xbf16>
  return %r : tensor<1x7xbf16>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s -o %t.ash --target=reference,cpu:x86-64,cpu:x86-64-v3,cpu:x86-64-v4,cpu:aarch64 --quiet

// Arithmetic, comparisons, functions and conversions of 16-bit floats need no
// function that a library may lack, on machines without an instruction for
// them either; vectors of two lanes are selected from under a mask.
func.func @main(%x: tensor<3x2xbf16>, %y: tensor<3x2xf16>)
    -> (tensor<3x2xbf16>, tensor<3x2xf16>, tensor<3x2xf64>) {
  %a = tensor.empty() : tensor<3x2xbf16>
  %b = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x2xbf16>) outs(%a : tensor<3x2xbf16>) {
  ^bb0(%u: bf16, %o: bf16):
    %zero = arith.constant 0.0 : bf16
    %sum = arith.addf %u, %u : bf16
    %is = arith.cmpf olt, %sum, %zero : bf16
    %most = arith.maximumf %sum, %zero : bf16
    %sine = math.sin %most : bf16
    %r = arith.select %is, %u, %sine : bf16
    linalg.yield %r : bf16
  } -> tensor<3x2xbf16>
  %c = tensor.empty() : tensor<3x2xf16>
  %d = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<3x2xf16>) outs(%c : tensor<3x2xf16>) {
  ^bb0(%u: f16, %o: f16):
    %q = arith.divf %u, %u : f16
    %i = arith.fptosi %q : f16 to i32
    %r = arith.sitofp %i : i32 to f16
    linalg.yield %r : f16
  } -> tensor<3x2xf16>
  %e = tensor.empty() : tensor<3x2xf64>
  %f = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%b, %d : tensor<3x2xbf16>, tensor<3x2xf16>)
      outs(%e : tensor<3x2xf64>) {
  ^bb0(%u: bf16, %v: f16, %o: f64):
    %m = arith.extf %u : bf16 to f64
    %n = arith.extf %v : f16 to f64
    %r = arith.addf %m, %n : f64
    linalg.yield %r : f64
  } -> tensor<3x2xf64>
  return %b, %d, %f : tensor<3x2xbf16>, tensor<3x2xf16>, tensor<3x2xf64>
}

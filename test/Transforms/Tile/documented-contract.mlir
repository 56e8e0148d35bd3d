// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-contracts --canonicalize --cse -o %t.expanded
// RUN: ashlar-opt %S/documented-steps.mlir --canonicalize --cse -o %t.documented
// RUN: diff %t.expanded %t.documented
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#n = affine_map<(m, n) -> (n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @product(%a: memref<8x64xf32>, %b: memref<64x16xf32>, %bias: memref<16xf32>,
                   %c: memref<8x16xf32>) {
  tile.contract a(%a : memref<8x64xf32>) b(%b : memref<64x16xf32>)
      epilogue(%bias : memref<16xf32>) outs(%c : memref<8x16xf32>) attributes {
    parallel = array<i64: 8, 16>, reduced = array<i64: 64>, maps = [#mk, #kn, #n, #mn],
    strategy = #tile.strategy<"fma" m [0] n [1] k [2], loop [4, 16 | 32] order [0, 1, 2], acc vectors promote 0,
                              hints {unroll = 4 : i64}>} {
  ^bb0(%sum: f32, %p: f32):
    %y = arith.addf %sum, %p : f32
    tile.yield %y : f32
  }
  return
}

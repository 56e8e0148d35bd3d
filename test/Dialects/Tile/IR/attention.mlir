// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --verify-roundtrip | FileCheck %s

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// CHECK-LABEL: func.func @attention
// CHECK: tile.attention queries(%arg0 : tensor<2x64x8xf32>) keys(%arg1 : tensor<2x96x8xf32>) values(%arg2 : tensor<2x96x8xf32>) outs(%{{.*}} : tensor<2x64x8xf32>) attributes
// CHECK-SAME: levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]
// CHECK-SAME: zeroRows
// CHECK: hide {
// CHECK: %[[I:.*]] = tile.index 1
func.func @attention(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes { zeroRows,
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32):
        %lowest = arith.constant 0xFF800000 : f32
        %i = tile.index 1
        %j = tile.index 2
        %late = arith.cmpi sgt, %j, %i : index
        %z = arith.select %late, %lowest, %x : f32
        tile.yield %z : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x64x8xf32>
  return %y : tensor<2x64x8xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-held-attention --canonicalize --cse | FileCheck %s

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// Rings in front of the loop; in it the scores of 32 keys, which stay with the
// threads, as do what is known of each row and the sums. Weights are the second
// product's a as they are. 40 rows and 72 keys: what lies beyond is zero, has no
// weight and is not stored.
// CHECK-LABEL: func.func @rows
// CHECK: scf.forall (%[[H:.*]], %[[Q:.*]]) = (0, 0) to (2, 40) step (1, 32)
// CHECK: %[[RQ:.*]] = tile.alloc : <1, 1x32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
// CHECK: %[[RK:.*]] = tile.alloc : <2, 1x32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
// CHECK: %[[RV:.*]] = tile.alloc : <2, 1x32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
// CHECK: %[[A:.*]], %{{.*}} = tile.copy %{{.*}} to %[[RQ]] {engine = "async"{{.*}} padded}
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}) -> (!tile.acc<32x16xf32, groups = [group warp [16, 16]], fragment = [[F:.*]]>, !tile.acc<32x1xf32, groups = [group warp [16, 1]], fragment = #tile.fragment<registers[8, 0], lanes[0, 0, 0, 0, 1, 0, 2, 0, 4, 0]>>, {{.*}})
// CHECK: %[[KS:.*]], %[[KT:.*]] = tile.copy %{{.*}} to %[[RK]]
// CHECK: %[[VS:.*]], %[[VT:.*]] = tile.copy %{{.*}} to %[[RV]]
// CHECK: tile.wait %[[KT]]
// CHECK: %[[S:.*]] = tile.step %{{.*}}, %[[A]], %[[KS]]
// CHECK: tile.release %[[KS]]
// CHECK: %[[ALL:.*]] = tile.map %[[S]]
// CHECK: arith.mulf
// A score's place is one among all.
// CHECK: %[[I:.*]] = tile.index 0
// CHECK: arith.addi %[[Q]], %[[I]]
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK: %[[MOST:.*]] = tile.reduce %[[ALL]] over [1]
// CHECK: %[[NEXT:.*]] = tile.map %[[M]], %[[MOST]]
// CHECK: %[[P:.*]] = tile.map %[[ALL]], %[[NEXT]]
// CHECK: math.exp %{{.*}} fastmath<afn>
// CHECK: %[[SCALE:.*]] = tile.map %[[M]], %[[NEXT]]
// CHECK: tile.reduce %[[P]] over [1]
// CHECK: %[[W:.*]] = tile.map %[[P]] {{.*}} -> <32x32xbf16
// CHECK: %[[OLD:.*]] = tile.map %[[O]], %[[SCALE]]
// CHECK: tile.wait %[[VT]]
// CHECK: tile.step %[[OLD]], %[[W]], %[[VS]]
// CHECK: tile.release %[[VS]]
// CHECK: tile.release %[[A]]
// CHECK: arith.divf
// CHECK: tile.drain {{.*}} {clipped
func.func @rows(%q: memref<2x40x16xbf16>, %k: memref<2x72x16xbf16>, %v: memref<2x72x16xbf16>, %y: memref<2x40x16xbf16>) {
  tile.attention queries(%q : memref<2x40x16xbf16>) keys(%k : memref<2x72x16xbf16>)
      values(%v : memref<2x72x16xbf16>) outs(%y : memref<2x40x16xbf16>) attributes {
        scoresParallel = array<i64: 2, 40, 72>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 40, 16>, reduced = array<i64: 72>,
        maps = [#weights, #values, #place],
        levels = [#tile.level<grid block [1, 32, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<group warp [_, 16, _ | _]>],
        scoresStrategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 32 | 16] order [0, 1, 2, 3], group warp [1, 16, 32 | _],
          a: ring shared at 0 slots 1 by async #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 0 slots 2 by async #tile.layout<swizzle [1, 3, 3]>,
          acc registers, hints {fragment = #bits}>,
        strategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 16 | 32] order [0, 1, 2, 3], group warp [1, 16, 16 | _],
          b: ring shared at 0 slots 2 by async #tile.layout<swizzle [1, 3, 3]>, acc registers, hints {fragment = #bits}>}
      score { ^bb0(%x: f32):
        %scale = arith.constant 0.25 : f32
        %z = arith.mulf %x, %scale : f32
        tile.yield %z : f32 }
      hide { ^bb0(%x: f32):
        %lowest = arith.constant 0xFF800000 : f32
        %i = tile.index 1
        %j = tile.index 2
        %late = arith.cmpi sgt, %j, %i : index
        %z = arith.select %late, %lowest, %x : f32
        tile.yield %z : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
  return
}

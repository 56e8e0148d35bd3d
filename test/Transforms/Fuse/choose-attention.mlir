// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-choose-attention=machine=cuda:sm_90a | FileCheck %s
// RUN: ashlar-opt %s --ashlar-choose-attention=machine=cuda:sm_80 | FileCheck %s --check-prefix=WARPS
// RUN: ashlar-opt %s --ashlar-choose-attention=machine=opencl:subgroups | FileCheck %s --check-prefix=NONE
// RUN: ashlar-opt %s --ashlar-choose-attention="machine=cuda:sm_90a open-sizes=1" | FileCheck %s --check-prefix=OPEN

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// Two groups of four warps with 64 rows each and 128 keys at a time; a warp of
// its own brings the next keys and values, and the next rows, meanwhile. It is
// four warps, which give up registers that the others need. 16-bit rows are
// swizzled, in blocks of 128 bytes.
// CHECK-LABEL: func.func @rows
// CHECK: tile.attention
// CHECK-SAME: levels = [#tile.level<grid block [1, 128, _ | _]>, #tile.level<loop [_, _, _ | 128] order [3]>, #tile.level<group warpgroup [_, 64, _ | _]>]
// CHECK-SAME: scoresStrategy = #tile.strategy<"wgmma" m [1] n [2] k [3], loop [1, 128, 128 | 128] order [0, 1, 2, 3], group warpgroup [1, 64, 128 | _], a: ring shared at 0 slots 2 by tma #tile.layout<block 64, swizzle [3, 3, 3]>, b: ring shared at 0 slots 2 by tma #tile.layout<block 64, swizzle [3, 3, 3]>, acc registers, role producer warpgroup x 1 registers 40, role consumer warpgroup x 2 registers 232,
// CHECK-SAME: strategy = #tile.strategy<"wgmma" m [1] n [2] k [3], loop [1, 128, 128 | 128] order [0, 1, 2, 3], group warpgroup [1, 64, 128 | _], b: ring shared at 0 slots 2 by tma
// Eight warps of 16 rows, and as many keys as their registers hold.
// WARPS-LABEL: func.func @rows
// WARPS: levels = [#tile.level<grid block [1, 128, _ | _]>, #tile.level<loop [_, _, _ | 64] order [3]>, #tile.level<group warp [_, 16, _ | _]>]
// What callers choose the sizes of comes by the engine as well, but nobody
// shares out its keys.
// OPEN-LABEL: func.func @rows
// OPEN-NOT: grid block [1, {{[0-9]+}}, _ | {{[0-9]}}
// OPEN: by tma
// OPEN-SAME: role producer warp x 1
// No unit there has fragments.
// NONE-LABEL: func.func @rows
// NONE: tile.attention
// NONE-NOT: group
func.func @rows(%q: tensor<64x2048x128xbf16>, %k: tensor<64x2048x128xbf16>, %v: tensor<64x2048x128xbf16>) -> tensor<64x2048x128xbf16> {
  %e = tensor.empty() : tensor<64x2048x128xbf16>
  %y = tile.attention queries(%q : tensor<64x2048x128xbf16>) keys(%k : tensor<64x2048x128xbf16>)
      values(%v : tensor<64x2048x128xbf16>) outs(%e : tensor<64x2048x128xbf16>) attributes {
        scoresParallel = array<i64: 64, 2048, 2048>, scoresReduced = array<i64: 128>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 64, 2048, 128>, reduced = array<i64: 2048>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 64] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 } -> tensor<64x2048x128xbf16>
  return %y : tensor<64x2048x128xbf16>
}

// Few rows and keys: one group, and tiles that reach beyond both ends. Rows of
// 40 bytes are no multiples of 16, which the engine copies: the threads do.
// CHECK-LABEL: func.func @few
// CHECK: levels = [#tile.level<grid block [1, 64, _ | _]>, #tile.level<loop [_, _, _ | 64] order [3]>, #tile.level<group warpgroup [_, 64, _ | _]>]
// CHECK-SAME: b: ring shared at 0 slots 2 by lanes
func.func @few(%q: tensor<2x5x16xbf16>, %k: tensor<2x36x16xbf16>, %v: tensor<2x16x36xbf16>) -> tensor<2x5x16xbf16> {
  %e = tensor.empty() : tensor<2x5x16xbf16>
  %y = tile.attention queries(%q : tensor<2x5x16xbf16>) keys(%k : tensor<2x36x16xbf16>)
      values(%v : tensor<2x16x36xbf16>) outs(%e : tensor<2x5x16xbf16>) attributes {
        scoresParallel = array<i64: 2, 5, 36>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 5, 16>, reduced = array<i64: 36>,
        maps = [#weights, affine_map<(h, q, d, s) -> (h, d, s)>, #place]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 } -> tensor<2x5x16xbf16>
  return %y : tensor<2x5x16xbf16>
}

// Terms of 24 are no whole steps of a unit: as it was.
// CHECK-LABEL: func.func @odd
// CHECK: tile.attention
// CHECK-NOT: group
func.func @odd(%q: tensor<2x64x24xbf16>, %k: tensor<2x96x24xbf16>, %v: tensor<2x96x16xbf16>) -> tensor<2x64x16xbf16> {
  %e = tensor.empty() : tensor<2x64x16xbf16>
  %y = tile.attention queries(%q : tensor<2x64x24xbf16>) keys(%k : tensor<2x96x24xbf16>)
      values(%v : tensor<2x96x16xbf16>) outs(%e : tensor<2x64x16xbf16>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 24>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 16>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 } -> tensor<2x64x16xbf16>
  return %y : tensor<2x64x16xbf16>
}

// One row of few heads, as a step of decoding has it: keys are shared out among
// parts, and a kernel of one pass merges what they have, always in their order,
// divides, and rounds.
// CHECK-LABEL: func.func @decode
// CHECK: %[[PARTS:.*]] = tile.attention
// CHECK-SAME: outs(%{{.*}} : tensor<[[#P:]]x32x1x128xf32>)
// CHECK-SAME: levels = [#tile.level<grid block [1, 64, _ | {{[0-9]+}}]>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[PARTS]], %[[PARTS]],
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: arith.truncf
// WARPS-LABEL: func.func @decode
// WARPS: tile.attention {{.*}} levels = [#tile.level<grid block [1, 16, _ | {{[0-9]+}}]>
// NONE-LABEL: func.func @decode
// NONE-NOT: linalg.generic
func.func @decode(%q: tensor<32x1x128xbf16>, %k: tensor<32x8192x128xbf16>, %v: tensor<32x8192x128xbf16>) -> tensor<32x1x128xbf16> {
  %e = tensor.empty() : tensor<32x1x128xbf16>
  %y = tile.attention queries(%q : tensor<32x1x128xbf16>) keys(%k : tensor<32x8192x128xbf16>)
      values(%v : tensor<32x8192x128xbf16>) outs(%e : tensor<32x1x128xbf16>) attributes {
        scoresParallel = array<i64: 32, 1, 8192>, scoresReduced = array<i64: 128>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 32, 1, 128>, reduced = array<i64: 8192>,
        maps = [#weights, #values, #place]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 } -> tensor<32x1x128xbf16>
  return %y : tensor<32x1x128xbf16>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-expand-held-attention --canonicalize --cse | FileCheck %s
// RUN: sed -e 's/4, 0\]>$/4, 0], in_flight 1>/' %s | ashlar-opt - --split-input-file --ashlar-expand-held-attention --canonicalize --cse | FileCheck %s --check-prefix=BEHIND

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
        %low = arith.constant -1.0e+04 : f32
        %i = tile.index 1
        %j = tile.index 2
        %late = arith.cmpi sgt, %j, %i : index
        %z = arith.select %late, %low, %x : f32
        tile.yield %z : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
  return
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// Keys behind the last row of a part have no weight for any: the loop ends in
// front of them. Those that all rows see have a loop of their own, which asks
// nothing of places. Parts with most keys come first. Threads that copy by
// themselves begin with the next tile where they use one, at the end with one
// that exists.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0) -> (-d0 + 32)>
// CHECK-DAG: #[[SEEN:.*]] = affine_map<(d0) -> (64, ((-d0 + 33) floordiv 32) * 32)>
// CHECK-DAG: #[[END:.*]] = affine_map<(d0) -> (-d0 + 64, 72)>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0) -> (64, d0 + 32)>
// CHECK-LABEL: func.func @causal
// CHECK: scf.forall (%[[R:.*]], %[[H:.*]]) = (0, 0) to (40, 2) step (32, 1)
// CHECK-DAG: affine.apply #[[ROW]](%[[R]])
// CHECK-DAG: %[[ALLSEE:.*]] = affine.min #[[SEEN]](%[[R]])
// CHECK-DAG: %[[BETWEEN:.*]] = affine.max #{{.*}}(%[[ALLSEE]])
// CHECK-DAG: %[[LAST:.*]] = affine.min #[[END]](%[[R]])
// CHECK: %[[K0:.*]], %[[KT0:.*]] = tile.copy
// CHECK: %[[V0:.*]], %[[VT0:.*]] = tile.copy
// CHECK: %[[FIRST:.*]]:7 = scf.for %{{.*}} = %c0 to %[[BETWEEN]] step
// CHECK: tile.copy
// CHECK-NOT: tile.index
// CHECK: scf.yield
// CHECK: %[[ALL:.*]]:7 = scf.for %[[K:.*]] = %[[BETWEEN]] to %[[LAST]] step %{{.*}} iter_args({{.*}}%[[KS:[^ ]*]] = %[[FIRST]]#3, %[[KT:.*]] = %[[FIRST]]#4, %[[VS:.*]] = %[[FIRST]]#5, %[[VT:.*]] = %[[FIRST]]#6)
// CHECK: tile.wait %[[KT]], %[[VT]]
// CHECK: %[[NEXTKEY:.*]] = affine.min #[[NEXT]](%[[K]])
// CHECK: memref.subview %{{.*}}[%[[H]], %[[NEXTKEY]], 0]
// CHECK: %[[K1:.*]], %[[KT1:.*]] = tile.copy
// CHECK: %[[V1:.*]], %[[VT1:.*]] = tile.copy
// CHECK: tile.step %{{.*}}, %{{.*}}, %[[KS]]
// CHECK: tile.release %[[KS]]
// CHECK: tile.index
// CHECK: tile.step %{{.*}}, %{{.*}}, %[[VS]]
// CHECK: tile.release %[[VS]]
// CHECK: scf.yield {{.*}} %[[K1]], %[[KT1]], %[[V1]], %[[VT1]]
// CHECK: tile.wait %[[ALL]]#4, %[[ALL]]#6
// CHECK: tile.release %[[ALL]]#3
// CHECK: tile.release %[[ALL]]#5
func.func @causal(%q: memref<2x40x16xbf16>, %k: memref<2x72x16xbf16>, %v: memref<2x72x16xbf16>, %y: memref<2x40x16xbf16>) {
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

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// A window of keys begins with a whole tile. Roles go through as many tiles as
// there are, both of them.
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0) -> (0, ((-d0 + 24) floordiv 32) * 32)>
// CHECK-DAG: #[[TO:.*]] = affine_map<(d0) -> (-d0 + 72, 72)>
// CHECK-LABEL: func.func @window
// CHECK-SAME: tile.teams
// CHECK: scf.forall (%[[R:.*]], %[[H:.*]]) =
// CHECK-DAG: %[[FIRST:.*]] = affine.max #[[FROM]](%[[R]])
// CHECK-DAG: %[[LAST:.*]] = affine.min #[[TO]](%[[R]])
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK: tile.copy {{.*}} {engine = "tma"
// CHECK-NOT: scf.for
// Where steps go on, those of a tile's scores begin before those of the values
// of the tile before it, which are waited for behind the exponentials. The
// groups take turns at both. The first tile is one of hidden scores where the
// part sees none, so that there is one.
// BEHIND-LABEL: func.func @window
// BEHIND: %[[SEES:.*]] = arith.cmpi slt
// BEHIND: %[[K0:.*]] = arith.select %[[SEES]]
// BEHIND: tile.take_turn 2
// BEHIND: tile.step {{.*}} -> !tile.token
// BEHIND-NEXT: tile.pass_turn 2
// BEHIND-NEXT: tile.wait
// BEHIND-NEXT: tile.release
// BEHIND: math.exp
// BEHIND: scf.for {{.*}} iter_args(%[[O:[^ ]*]] = %{{[^ ]*}}, %[[M:[^ ]*]] = %{{[^ ]*}}, %[[L:[^ ]*]] = %{{[^ ]*}}, %[[W:[^ ]*]] = %{{[^ ]*}})
// BEHIND:   %[[KS:.*]], %[[KT:.*]] = tile.copy
// BEHIND:   tile.wait %[[KT]]
// BEHIND:   tile.take_turn 2
// BEHIND:   %[[S:.*]], %[[ST:.*]] = tile.step %{{.*}}, %{{.*}}, %[[KS]]
// BEHIND:   %[[VS:.*]], %[[VT:.*]] = tile.copy
// BEHIND:   tile.wait %[[VT]]
// BEHIND-NEXT:   %[[SUM:.*]], %[[PT:.*]] = tile.step %[[O]], %[[W]], %[[VS]]
// BEHIND-NEXT:   tile.pass_turn 2
// BEHIND-NEXT:   tile.wait %[[ST]]
// BEHIND-NEXT:   tile.release %[[KS]]
// BEHIND:   math.exp
// BEHIND:   tile.wait %[[PT]]
// BEHIND-NEXT:   tile.release %[[VS]]
// BEHIND-NEXT:   tile.map %[[SUM]]
// BEHIND:   scf.yield
// BEHIND: tile.take_turn 2
// BEHIND: tile.step {{.*}} -> !tile.token
// BEHIND-NEXT: tile.pass_turn 2
// BEHIND: arith.divf
func.func @window(%q: memref<2x40x16xbf16>, %k: memref<2x72x16xbf16>, %v: memref<2x72x16xbf16>, %y: memref<2x40x16xbf16>) {
  tile.attention queries(%q : memref<2x40x16xbf16>) keys(%k : memref<2x72x16xbf16>)
      values(%v : memref<2x72x16xbf16>) outs(%y : memref<2x40x16xbf16>) attributes {
        scoresParallel = array<i64: 2, 40, 72>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 40, 16>, reduced = array<i64: 72>,
        maps = [#weights, #values, #place],
        levels = [#tile.level<grid block [1, 32, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<group warp [_, 16, _ | _]>],
        scoresStrategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 32 | 16] order [0, 1, 2, 3], group warp [1, 16, 32 | _],
          a: ring shared at 0 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 0 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>,
          acc registers, role producer warp x 1, role consumer warp x 2, hints {fragment = #bits}>,
        strategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 16 | 32] order [0, 1, 2, 3], group warp [1, 16, 16 | _],
          b: ring shared at 0 slots 2 by tma #tile.layout<swizzle [1, 3, 3]>, acc registers, hints {fragment = #bits}>}
      score { ^bb0(%x: f32):
        %scale = arith.constant 0.25 : f32
        %z = arith.mulf %x, %scale : f32
        tile.yield %z : f32 }
      hide { ^bb0(%x: f32):
        %lowest = arith.constant 0xFF800000 : f32
        %i = tile.index 1
        %j = tile.index 2
        %c8 = arith.constant 8 : index
        %last = arith.addi %i, %c8 : index
        %first = arith.subi %i, %c8 : index
        %early = arith.cmpi sle, %j, %last : index
        %late = arith.cmpi sge, %j, %first : index
        %seen = arith.andi %early, %late : i1
        %z = arith.select %seen, %x, %lowest : f32
        tile.yield %z : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
  return
}

// -----

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

// Rows, keys and how many keys are in front of the first row are what each call
// says: tiles may reach beyond any end, and keys that all rows see come first.
// Of no keys at all the first tile is empty.
// CHECK-DAG: #[[LAST:.*]] = affine_map<()[s0] -> (((s0 - 1) floordiv 32) * 32, 0)>
// CHECK-LABEL: func.func @open
// CHECK-SAME: %[[S:[a-z0-9]+]]: index {exec.size = {{.*}}largest = 40>}, %[[P:[a-z0-9]+]]: index {exec.size = {{.*}}largest = 72>}, %[[B:[a-z0-9]+]]: index
// CHECK: scf.forall (%[[Q:.*]], %{{.*}}) = (0, 0) to (%[[S]], 2) step (32, 1)
// CHECK: affine.min #{{.*}}(%{{.*}})[%[[S]]]
// CHECK: tile.copy {{.*}} padded}
// CHECK: affine.min #{{.*}}(%{{.*}})[%[[P]], %[[B]], %[[S]]]
// CHECK: affine.max #[[LAST]]()[%[[P]]]
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: arith.cmpi slt, %{{.*}}, %[[P]]
// CHECK: tile.drain {{.*}} {clipped
func.func @open(%q: memref<2x?x16xbf16>, %k: memref<2x?x16xbf16>, %v: memref<2x?x16xbf16>, %y: memref<2x?x16xbf16>,
    %s: index {exec.size = #exec.size<affine_map<()[s0, s1] -> (s0)>, largest = 40>},
    %p: index {exec.size = #exec.size<affine_map<()[s0, s1] -> (s1)>, largest = 72>},
    %b: index {exec.size = #exec.size<affine_map<()[s0, s1] -> (s1 - s0)>, largest = 71>}) {
  tile.attention queries(%q : memref<2x?x16xbf16>) keys(%k : memref<2x?x16xbf16>)
      values(%v : memref<2x?x16xbf16>) outs(%y : memref<2x?x16xbf16>) attributes {
        exec.dim_parameters = array<i64: -1, 0, 1, -1, -1, 0, -1, 1>,
        scoresParallel = array<i64: 2, 40, 72>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 40, 16>, reduced = array<i64: 72>,
        maps = [#weights, #values, #place],
        levels = [#tile.level<grid block [1, 32, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>, #tile.level<group warp [_, 16, _ | _]>],
        scoresStrategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 32 | 16] order [0, 1, 2, 3], group warp [1, 16, 32 | _],
          a: ring shared at 0 slots 1 by async #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 0 slots 2 by async #tile.layout<swizzle [1, 3, 3]>,
          acc registers, hints {fragment = #bits}>,
        strategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 32, 16 | 32] order [0, 1, 2, 3], group warp [1, 16, 16 | _],
          b: ring shared at 0 slots 2 by async #tile.layout<swizzle [1, 3, 3]>, acc registers, hints {fragment = #bits}>}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32):
        %row = tile.index 1
        %key = tile.index 2
        %seen = arith.addi %row, %b : index
        %c = arith.cmpi sle, %key, %seen : index
        %none = arith.constant 0xFF800000 : f32
        %z = arith.select %c, %x, %none : f32
        tile.yield %z : f32 }
      weigh { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
      body { ^bb0(%x: f32):
        %z = arith.truncf %x : f32 to bf16
        tile.yield %z : bf16 }
  return
}

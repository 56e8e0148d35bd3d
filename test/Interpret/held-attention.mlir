// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-held-attention --ashlar-interpret-kernels="schedules=20 tolerance=0.02" 2>&1 >/dev/null | FileCheck %s
// RUN: ashlar-opt %s --ashlar-expand-held-attention --ashlar-pipeline-copies --ashlar-interpret-kernels="schedules=20 tolerance=0.02" 2>&1 >/dev/null | FileCheck %s
// RUN: sed -e 's/slots 1 by async/slots 2 by tma/; s/slots 2 by async/slots 2 by tma/; s/acc registers, hints {fragment = #bits}>,$/acc registers, role producer warp x 1, role consumer warp x 1, hints {fragment = #bits}>,/' %s | ashlar-opt - --ashlar-expand-held-attention --ashlar-hoist-roles="engines=tma otherwise=async" --ashlar-interpret-kernels="schedules=20 tolerance=0.02" 2>&1 >/dev/null | FileCheck %s
// RUN: sed -e 's/4, 0\]>$/4, 0], in_flight 1>/; s/slots 1 by async/slots 2 by tma/; s/slots 2 by async/slots 2 by tma/; s/acc registers, hints {fragment = #bits}>,$/acc registers, role producer warp x 1, role consumer warp x 2, hints {fragment = #bits}>,/' %s | ashlar-opt - --ashlar-expand-held-attention --ashlar-hoist-roles="engines=tma otherwise=async" --ashlar-interpret-kernels="schedules=20 tolerance=0.02" 2>&1 >/dev/null | FileCheck %s

// Rows and keys beyond the last whole tile, keys that are hidden, and rounded
// weights: beside a softmax row by row.
// CHECK: 'held' interpreted under 20 schedules: largest difference
// CHECK-NOT: error

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>
#bits = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>

func.func private @plain(%q: memref<1x20x16xbf16>, %k: memref<1x24x16xbf16>, %v: memref<1x24x16xbf16>, %y: memref<1x20x16xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %scores = memref.alloc() : memref<24xf32>
  scf.for %i = %c0 to %c20 step %c1 {
    // A row sees the keys up to its own number.
    %end = arith.addi %i, %c1 : index
    %most = scf.for %j = %c0 to %end step %c1 iter_args(%m = %lowest) -> (f32) {
      %sum = scf.for %d = %c0 to %c16 step %c1 iter_args(%s = %zero) -> (f32) {
        %a = memref.load %q[%c0, %i, %d] : memref<1x20x16xbf16>
        %b = memref.load %k[%c0, %j, %d] : memref<1x24x16xbf16>
        %x = arith.extf %a : bf16 to f32
        %z = arith.extf %b : bf16 to f32
        %p = arith.mulf %x, %z : f32
        %t = arith.addf %s, %p : f32
        scf.yield %t : f32
      }
      %score = arith.mulf %sum, %scale : f32
      memref.store %score, %scores[%j] : memref<24xf32>
      %larger = arith.maximumf %m, %score : f32
      scf.yield %larger : f32
    }
    %total = scf.for %j = %c0 to %end step %c1 iter_args(%t = %zero) -> (f32) {
      %score = memref.load %scores[%j] : memref<24xf32>
      %distance = arith.subf %score, %most : f32
      %power = math.exp %distance : f32
      memref.store %power, %scores[%j] : memref<24xf32>
      %next = arith.addf %t, %power : f32
      scf.yield %next : f32
    }
    scf.for %d = %c0 to %c16 step %c1 {
      %sum = scf.for %j = %c0 to %end step %c1 iter_args(%s = %zero) -> (f32) {
        %power = memref.load %scores[%j] : memref<24xf32>
        %b = memref.load %v[%c0, %j, %d] : memref<1x24x16xbf16>
        %z = arith.extf %b : bf16 to f32
        %p = arith.mulf %power, %z : f32
        %t = arith.addf %s, %p : f32
        scf.yield %t : f32
      }
      %quotient = arith.divf %sum, %total : f32
      %rounded = arith.truncf %quotient : f32 to bf16
      memref.store %rounded, %y[%c0, %i, %d] : memref<1x20x16xbf16>
    }
  }
  memref.dealloc %scores : memref<24xf32>
  return
}

func.func @held(%q: memref<1x20x16xbf16>, %k: memref<1x24x16xbf16>, %v: memref<1x24x16xbf16>, %y: memref<1x20x16xbf16>) attributes {reference = @plain} {
  tile.attention queries(%q : memref<1x20x16xbf16>) keys(%k : memref<1x24x16xbf16>)
      values(%v : memref<1x24x16xbf16>) outs(%y : memref<1x20x16xbf16>) attributes {
        scoresParallel = array<i64: 1, 20, 24>, scoresReduced = array<i64: 16>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 1, 20, 16>, reduced = array<i64: 24>,
        maps = [#weights, #values, #place],
        levels = [#tile.level<grid block [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 16] order [3]>, #tile.level<group warp [_, 16, _ | _]>],
        scoresStrategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 16, 16 | 16] order [0, 1, 2, 3], group warp [1, 16, 32 | _],
          a: ring shared at 0 slots 1 by async #tile.layout<swizzle [1, 3, 3]>, b: ring shared at 0 slots 2 by async #tile.layout<swizzle [1, 3, 3]>,
          acc registers, hints {fragment = #bits}>,
        strategy = #tile.strategy<"mma" m [1] n [2] k [3], loop [1, 16, 16 | 16] order [0, 1, 2, 3], group warp [1, 16, 16 | _],
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-attention=score-bytes=131072 | FileCheck %s
// RUN: ashlar-opt %s --ashlar-form-attention="score-bytes=131072 open-sizes=1" | FileCheck %s --check-prefix=OPEN
// RUN: ashlar-opt %s --ashlar-form-attention="score-bytes=4096 shared=1" | FileCheck %s --check-prefix=SHARED
// RUN: ashlar-opt %s --ashlar-form-attention="score-bytes=4096 shared=1 open-sizes=1 machine=cuda:sm_90a" | FileCheck %s --check-prefix=OPEN-SHARED

#place = affine_map<(h, q, s) -> (h, q, s)>
#row = affine_map<(h, q, s) -> (h, q)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// A softmax between two contractions, with what hides scores in front of it:
// one op, whose workers take some rows of one batch.
// CHECK-LABEL: func.func @hidden
// CHECK-NOT: linalg.generic
// CHECK: tile.attention queries(%arg0 : tensor<4x512x64xf32>) keys(%arg1 : tensor<4x512x64xf32>) values(%arg2 : tensor<4x512x64xf32>)
// CHECK-SAME: levels = [#tile.level<grid core [1, 64, _ | _]>]
// CHECK-SAME: parallel = array<i64: 4, 512, 64>, reduced = array<i64: 512>
// CHECK-SAME: scoresParallel = array<i64: 4, 512, 512>, scoresReduced = array<i64: 64>
// CHECK: score {
// CHECK: arith.mulf
// CHECK: hide {
// CHECK: tile.index 1
// CHECK: tile.index 2
// CHECK: weigh {
// CHECK-NEXT: ^bb0(%[[W:.*]]: f32):
// CHECK-NEXT: tile.yield %[[W]]
// CHECK: body {
// Where a caller chooses sizes, rows need not divide them.
// OPEN-LABEL: func.func @hidden
// OPEN: tile.attention
// OPEN-SAME: levels = [#tile.level<grid core [1, {{[0-9]+}}, _ | _]>]
// Threads that compute a part together take some keys at a time; strategies
// follow when that is known.
// SHARED-LABEL: func.func @hidden
// SHARED: tile.attention
// SHARED-SAME: levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 64] order [3]>]
// SHARED-NOT: trategy
// Of sizes that a caller chooses as well, where threads hold nothing of it: no
// unit has weights of f32 where its sums are.
// OPEN-SHARED-LABEL: func.func @hidden
// OPEN-SHARED: tile.attention
// OPEN-SHARED-SAME: levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 64] order [3]>]
func.func @hidden(%q: tensor<4x512x64xf32>, %k: tensor<4x512x64xf32>, %v: tensor<4x512x64xf32>) -> tensor<4x512x64xf32> {
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x512x512xf32>
  %s = tile.contract a(%q : tensor<4x512x64xf32>) b(%k : tensor<4x512x64xf32>) outs(%e : tensor<4x512x512xf32>)
      attributes {maps = [#queries, #keys, #place], parallel = array<i64: 4, 512, 512>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    %x = arith.mulf %sum, %scale : f32
    tile.yield %x : f32
  } -> tensor<4x512x512xf32>
  %he = tensor.empty() : tensor<4x512x512xf32>
  %hidden = linalg.generic {indexing_maps = [#place, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x512x512xf32>) outs(%he : tensor<4x512x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %late = arith.cmpi sgt, %j, %i : index
    %x = arith.select %late, %lowest, %in : f32
    linalg.yield %x : f32
  } -> tensor<4x512x512xf32>
  %re = tensor.empty() : tensor<4x512xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<4x512xf32>) -> tensor<4x512xf32>
  %m = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%hidden : tensor<4x512x512xf32>) outs(%m0 : tensor<4x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.maximumf %in, %out : f32
    linalg.yield %x : f32
  } -> tensor<4x512xf32>
  %se = tensor.empty() : tensor<4x512x512xf32>
  %p = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%hidden, %m : tensor<4x512x512xf32>, tensor<4x512xf32>) outs(%se : tensor<4x512x512xf32>) {
  ^bb0(%in: f32, %largest: f32, %out: f32):
    %d = arith.subf %in, %largest : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<4x512x512xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%re : tensor<4x512xf32>) -> tensor<4x512xf32>
  %t = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<4x512x512xf32>) outs(%t0 : tensor<4x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  } -> tensor<4x512xf32>
  %w = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<4x512x512xf32>, tensor<4x512xf32>) outs(%se : tensor<4x512x512xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %x = arith.divf %in, %total : f32
    linalg.yield %x : f32
  } -> tensor<4x512x512xf32>
  %ye = tensor.empty() : tensor<4x512x64xf32>
  %y = tile.contract a(%w : tensor<4x512x512xf32>) b(%v : tensor<4x512x64xf32>) outs(%ye : tensor<4x512x64xf32>)
      attributes {maps = [#weights, #values, #place], parallel = array<i64: 4, 512, 64>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<4x512x64xf32>
  return %y : tensor<4x512x64xf32>
}

// Of so many keys that the scores of few rows fit, some are taken at a time.
// CHECK-LABEL: func.func @long
// CHECK-NOT: linalg.generic
// CHECK: tile.attention
// CHECK-SAME: levels = [#tile.level<grid core [_, 128, _ | _]>, #tile.level<loop [_, _, _ | 256] order [3]>]
// OPEN-LABEL: func.func @long
// OPEN: tile.attention
// OPEN-SAME: levels = [#tile.level<grid core [_, 128, _ | _]>, #tile.level<loop [_, _, _ | 256] order [3]>]
func.func @long(%q: tensor<1x8192x64xf32>, %k: tensor<1x8192x64xf32>, %v: tensor<1x8192x64xf32>) -> tensor<1x8192x64xf32> {
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x8192x8192xf32>
  %s = tile.contract a(%q : tensor<1x8192x64xf32>) b(%k : tensor<1x8192x64xf32>) outs(%e : tensor<1x8192x8192xf32>)
      attributes {maps = [#queries, #keys, #place], parallel = array<i64: 1, 8192, 8192>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    %x = arith.mulf %sum, %scale : f32
    tile.yield %x : f32
  } -> tensor<1x8192x8192xf32>
  %re = tensor.empty() : tensor<1x8192xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  %m = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<1x8192x8192xf32>) outs(%m0 : tensor<1x8192xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.maximumf %in, %out : f32
    linalg.yield %x : f32
  } -> tensor<1x8192xf32>
  %se = tensor.empty() : tensor<1x8192x8192xf32>
  %p = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<1x8192x8192xf32>, tensor<1x8192xf32>) outs(%se : tensor<1x8192x8192xf32>) {
  ^bb0(%in: f32, %largest: f32, %out: f32):
    %d = arith.subf %in, %largest : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<1x8192x8192xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%re : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  %t = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<1x8192x8192xf32>) outs(%t0 : tensor<1x8192xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  } -> tensor<1x8192xf32>
  %w = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<1x8192x8192xf32>, tensor<1x8192xf32>) outs(%se : tensor<1x8192x8192xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %x = arith.divf %in, %total : f32
    linalg.yield %x : f32
  } -> tensor<1x8192x8192xf32>
  %ye = tensor.empty() : tensor<1x8192x64xf32>
  %y = tile.contract a(%w : tensor<1x8192x8192xf32>) b(%v : tensor<1x8192x64xf32>) outs(%ye : tensor<1x8192x64xf32>)
      attributes {maps = [#weights, #values, #place], parallel = array<i64: 1, 8192, 64>, reduced = array<i64: 8192>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<1x8192x64xf32>
  return %y : tensor<1x8192x64xf32>
}

// Few rows are made whole: they always fit.
// CHECK-LABEL: func.func @few
// CHECK: tile.attention
// CHECK-SAME: levels = [#tile.level<grid core [1, _, _ | _]>]
// OPEN-LABEL: func.func @few
// OPEN: tile.attention
// OPEN-SAME: levels = [#tile.level<grid core [1, _, _ | _]>]
func.func @few(%q: tensor<2x5x16xf32>, %k: tensor<2x64x16xf32>, %v: tensor<2x64x16xf32>) -> tensor<2x5x16xf32> {
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x64xf32>
  %s = tile.contract a(%q : tensor<2x5x16xf32>) b(%k : tensor<2x64x16xf32>) outs(%e : tensor<2x5x64xf32>)
      attributes {maps = [#queries, #keys, #place], parallel = array<i64: 2, 5, 64>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %x = arith.mulf %sum, %scale : f32
    tile.yield %x : f32
  } -> tensor<2x5x64xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x5x64xf32>) outs(%m0 : tensor<2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.maximumf %in, %out : f32
    linalg.yield %x : f32
  } -> tensor<2x5xf32>
  %se = tensor.empty() : tensor<2x5x64xf32>
  %p = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x5x64xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x64xf32>) {
  ^bb0(%in: f32, %largest: f32, %out: f32):
    %d = arith.subf %in, %largest : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<2x5x64xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %t = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x5x64xf32>) outs(%t0 : tensor<2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  } -> tensor<2x5xf32>
  %w = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<2x5x64xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x64xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %x = arith.divf %in, %total : f32
    linalg.yield %x : f32
  } -> tensor<2x5x64xf32>
  %ye = tensor.empty() : tensor<2x5x16xf32>
  %y = tile.contract a(%w : tensor<2x5x64xf32>) b(%v : tensor<2x64x16xf32>) outs(%ye : tensor<2x5x16xf32>)
      attributes {maps = [#weights, #values, #place], parallel = array<i64: 2, 5, 16>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<2x5x16xf32>
  return %y : tensor<2x5x16xf32>
}

// What somebody else reads stays.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: tile.attention
// CHECK: return
func.func @read_twice(%q: tensor<2x5x16xf32>, %k: tensor<2x64x16xf32>, %v: tensor<2x64x16xf32>) -> (tensor<2x5x16xf32>, tensor<2x5x64xf32>) {
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x64xf32>
  %s = tile.contract a(%q : tensor<2x5x16xf32>) b(%k : tensor<2x64x16xf32>) outs(%e : tensor<2x5x64xf32>)
      attributes {maps = [#queries, #keys, #place], parallel = array<i64: 2, 5, 64>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %x = arith.mulf %sum, %scale : f32
    tile.yield %x : f32
  } -> tensor<2x5x64xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x5x64xf32>) outs(%m0 : tensor<2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.maximumf %in, %out : f32
    linalg.yield %x : f32
  } -> tensor<2x5xf32>
  %se = tensor.empty() : tensor<2x5x64xf32>
  %p = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x5x64xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x64xf32>) {
  ^bb0(%in: f32, %largest: f32, %out: f32):
    %d = arith.subf %in, %largest : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<2x5x64xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %t = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x5x64xf32>) outs(%t0 : tensor<2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  } -> tensor<2x5xf32>
  %w = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<2x5x64xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x64xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %x = arith.divf %in, %total : f32
    linalg.yield %x : f32
  } -> tensor<2x5x64xf32>
  %ye = tensor.empty() : tensor<2x5x16xf32>
  %y = tile.contract a(%w : tensor<2x5x64xf32>) b(%v : tensor<2x64x16xf32>) outs(%ye : tensor<2x5x16xf32>)
      attributes {maps = [#weights, #values, #place], parallel = array<i64: 2, 5, 16>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<2x5x16xf32>
  return %y, %w : tensor<2x5x16xf32>, tensor<2x5x64xf32>
}

// A prime number of rows cannot be cut, and the scores of all are too many. Where
// callers choose how many there are, the last part has fewer anyway.
// CHECK-LABEL: func.func @prime
// OPEN-SHARED-LABEL: func.func @prime
// OPEN-SHARED: levels = [#tile.level<grid core [_, 16, _ | _]>, #tile.level<loop [_, _, _ | 64] order [3]>]
// CHECK-NOT: tile.attention
// CHECK: return
func.func @prime(%q: tensor<1x1009x16xf32>, %k: tensor<1x8192x16xf32>, %v: tensor<1x8192x16xf32>) -> tensor<1x1009x16xf32> {
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x1009x8192xf32>
  %s = tile.contract a(%q : tensor<1x1009x16xf32>) b(%k : tensor<1x8192x16xf32>) outs(%e : tensor<1x1009x8192xf32>)
      attributes {maps = [#queries, #keys, #place], parallel = array<i64: 1, 1009, 8192>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %x = arith.mulf %sum, %scale : f32
    tile.yield %x : f32
  } -> tensor<1x1009x8192xf32>
  %re = tensor.empty() : tensor<1x1009xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<1x1009xf32>) -> tensor<1x1009xf32>
  %m = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<1x1009x8192xf32>) outs(%m0 : tensor<1x1009xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.maximumf %in, %out : f32
    linalg.yield %x : f32
  } -> tensor<1x1009xf32>
  %se = tensor.empty() : tensor<1x1009x8192xf32>
  %p = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<1x1009x8192xf32>, tensor<1x1009xf32>) outs(%se : tensor<1x1009x8192xf32>) {
  ^bb0(%in: f32, %largest: f32, %out: f32):
    %d = arith.subf %in, %largest : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<1x1009x8192xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%re : tensor<1x1009xf32>) -> tensor<1x1009xf32>
  %t = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<1x1009x8192xf32>) outs(%t0 : tensor<1x1009xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  } -> tensor<1x1009xf32>
  %w = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<1x1009x8192xf32>, tensor<1x1009xf32>) outs(%se : tensor<1x1009x8192xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %x = arith.divf %in, %total : f32
    linalg.yield %x : f32
  } -> tensor<1x1009x8192xf32>
  %ye = tensor.empty() : tensor<1x1009x16xf32>
  %y = tile.contract a(%w : tensor<1x1009x8192xf32>) b(%v : tensor<1x8192x16xf32>) outs(%ye : tensor<1x1009x16xf32>)
      attributes {maps = [#weights, #values, #place], parallel = array<i64: 1, 1009, 16>, reduced = array<i64: 8192>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<1x1009x16xf32>
  return %y : tensor<1x1009x16xf32>
}

// Weights that are more than rounded cannot be divided once they are added up:
// keys are not taken in parts.
// CHECK-LABEL: func.func @scaled_weights
// CHECK: tile.attention
// OPEN-SHARED-LABEL: func.func @scaled_weights
// OPEN-SHARED-NOT: tile.attention
func.func @scaled_weights(%q: tensor<2x5x16xf32>, %k: tensor<2x64x16xf32>, %v: tensor<2x64x16xf32>) -> tensor<2x5x16xf32> {
  %scale = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x5x64xf32>
  %s = tile.contract a(%q : tensor<2x5x16xf32>) b(%k : tensor<2x64x16xf32>) outs(%e : tensor<2x5x64xf32>)
      attributes {maps = [#queries, #keys, #place], parallel = array<i64: 2, 5, 64>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %x = arith.mulf %sum, %scale : f32
    tile.yield %x : f32
  } -> tensor<2x5x64xf32>
  %re = tensor.empty() : tensor<2x5xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %m = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x5x64xf32>) outs(%m0 : tensor<2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.maximumf %in, %out : f32
    linalg.yield %x : f32
  } -> tensor<2x5xf32>
  %se = tensor.empty() : tensor<2x5x64xf32>
  %p = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x5x64xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x64xf32>) {
  ^bb0(%in: f32, %largest: f32, %out: f32):
    %d = arith.subf %in, %largest : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<2x5x64xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%re : tensor<2x5xf32>) -> tensor<2x5xf32>
  %t = linalg.generic {indexing_maps = [#place, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x5x64xf32>) outs(%t0 : tensor<2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  } -> tensor<2x5xf32>
  %w = linalg.generic {indexing_maps = [#place, #row, #place], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<2x5x64xf32>, tensor<2x5xf32>) outs(%se : tensor<2x5x64xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %z = arith.divf %in, %total : f32
    %x = arith.mulf %z, %scale : f32
    linalg.yield %x : f32
  } -> tensor<2x5x64xf32>
  %ye = tensor.empty() : tensor<2x5x16xf32>
  %y = tile.contract a(%w : tensor<2x5x64xf32>) b(%v : tensor<2x64x16xf32>) outs(%ye : tensor<2x5x16xf32>)
      attributes {maps = [#weights, #values, #place], parallel = array<i64: 2, 5, 16>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<2x5x16xf32>
  return %y : tensor<2x5x16xf32>
}

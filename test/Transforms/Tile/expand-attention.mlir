// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-expand-attention --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[LAST_SEEN:.*]] = affine_map<(d0)[s0] -> (s0, d0 + 16)>

#place = affine_map<(h, q, s) -> (h, q, s)>
#queries = affine_map<(h, q, s, d) -> (h, q, d)>
#keys = affine_map<(h, q, s, d) -> (h, s, d)>
#mask = affine_map<(h, q, s) -> (q, s)>
#weights = affine_map<(h, q, d, s) -> (h, q, s)>
#values = affine_map<(h, q, d, s) -> (h, s, d)>

// Some rows of one batch at a time, with the scores of all keys.
// CHECK-LABEL: func.func @rows
// CHECK: scf.forall (%[[H:.*]], %[[Q:.*]]) = (0, 0) to (2, 64) step (1, 16)
// CHECK-NOT: scf.for
// CHECK: %[[S:.*]] = tile.contract {{.*}} outs(%{{.*}} : tensor<1x16x96xf32>)
// CHECK: linalg.generic
// The place of a score is one among all.
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.addi %[[I]], %[[Q]]
// CHECK: linalg.index 2
// CHECK: linalg.yield
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: tile.contract a(%{{.*}} : tensor<1x16x96xf32>)
// CHECK: scf.forall.in_parallel
func.func @rows(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>]}
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

// Some keys at a time: sums, largest scores and sums of exponentials go from
// step to step, the rest of the keys is a step of its own, and only what comes
// out is divided.
// CHECK-LABEL: func.func @keys
// CHECK: scf.forall
// CHECK: %[[LOOP:.*]]:3 = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUMS:.*]] = %{{.*}}, %[[MOST:.*]] = %{{.*}}, %[[TOTAL:.*]] = %{{.*}}) -> (tensor<1x16x8xf32>, tensor<1x16xf32>, tensor<1x16xf32>)
// CHECK: tile.contract {{.*}} outs(%{{.*}} : tensor<1x16x40xf32>)
// CHECK: %[[J:.*]] = linalg.index 2
// CHECK: arith.addi %[[J]], %[[K]]
// CHECK: %[[LARGEST:.*]] = linalg.generic {{.*}} outs(%[[MOST]] : tensor<1x16xf32>)
// CHECK: arith.maximumf
// A row of nothing but negative infinities is not one of NaN yet.
// CHECK: arith.select
// CHECK: %[[SCALE:.*]] = linalg.generic {{.*}} ins(%[[MOST]], %[[LARGEST]]
// CHECK: linalg.generic {{.*}} ins(%[[TOTAL]], %[[SCALE]]
// CHECK: %[[NEXT:.*]] = tile.contract {{.*}} epilogue(%[[SUMS]], %[[SCALE]] : tensor<1x16x8xf32>, tensor<1x16xf32>) outs(%[[SUMS]] : tensor<1x16x8xf32>)
// CHECK: ^bb0(%[[SUM:.*]]: f32, %[[OLD:.*]]: f32, %[[BY:.*]]: f32):
// CHECK: %[[SHRUNK:.*]] = arith.mulf %[[OLD]], %[[BY]]
// CHECK: arith.addf %[[SHRUNK]], %[[SUM]]
// CHECK: scf.yield %[[NEXT]], %[[LARGEST]]
// CHECK: tile.contract {{.*}} outs(%{{.*}} : tensor<1x16x16xf32>)
// CHECK: tile.contract {{.*}} epilogue(%[[LOOP]]#0
// CHECK: arith.divf
// CHECK: scf.forall.in_parallel
func.func @keys(%q: tensor<2x64x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>) -> tensor<2x64x8xf32> {
  %e = tensor.empty() : tensor<2x64x8xf32>
  %y = tile.attention queries(%q : tensor<2x64x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) outs(%e : tensor<2x64x8xf32>) attributes {
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 40] order [3]>]}
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

// Where rows may have no weights, they are divided by one.
// CHECK-LABEL: func.func @zero_rows
// CHECK: scf.for
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %{{.*}}, %{{.*}} : f32
// CHECK: arith.divf
func.func @zero_rows(%q: tensor<1x16x8xf32>, %k: tensor<1x64x8xf32>, %v: tensor<1x64x8xf32>) -> tensor<1x16x8xf32> {
  %e = tensor.empty() : tensor<1x16x8xf32>
  %y = tile.attention queries(%q : tensor<1x16x8xf32>) keys(%k : tensor<1x64x8xf32>)
      values(%v : tensor<1x64x8xf32>) outs(%e : tensor<1x16x8xf32>) attributes { zeroRows,
        scoresParallel = array<i64: 1, 16, 64>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 1, 16, 8>, reduced = array<i64: 64>,
        maps = [#weights, #values, #place], levels = [#tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<1x16x8xf32>
  return %y : tensor<1x16x8xf32>
}

// A worker has one batch, whatever the number of batches that a caller chooses:
// what it makes is as large as one.
// CHECK-LABEL: func.func @open_batches
// CHECK-SAME: %[[B:arg[0-9]+]]: index {exec.size
// CHECK: scf.forall (%{{.*}}) in (%[[B]])
// CHECK-NOT: tensor.empty(%[[B]]
// CHECK: tile.contract {{.*}}exec.dim_parameters = array<i64: -1, -1, -1, -1>
// CHECK: tile.contract {{.*}}exec.dim_parameters = array<i64: -1, -1, -1, -1>
func.func @open_batches(%q: tensor<?x16x8xf32>, %k: tensor<?x64x8xf32>, %v: tensor<?x64x8xf32>,
                        %b: index {exec.size = #exec.size<affine_map<()[s0] -> (s0)>, largest = 4>}) -> tensor<?x16x8xf32> {
  %e = tensor.empty(%b) : tensor<?x16x8xf32>
  %y = tile.attention queries(%q : tensor<?x16x8xf32>) keys(%k : tensor<?x64x8xf32>)
      values(%v : tensor<?x64x8xf32>) outs(%e : tensor<?x16x8xf32>) attributes {
        exec.dim_parameters = array<i64: 0, -1, -1, -1, 0, -1, -1, -1>,
        scoresParallel = array<i64: 4, 16, 64>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 4, 16, 8>, reduced = array<i64: 64>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, _, _ | _]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<?x16x8xf32>
  return %y : tensor<?x16x8xf32>
}

// A worker has 24 rows of those that a caller chooses, the last maybe fewer, and
// the scores of all keys.
// CHECK-LABEL: func.func @open_rows
// CHECK-SAME: %[[S:arg[0-9]+]]: index {exec.size
// CHECK: scf.forall (%[[H:.*]], %[[Q:.*]]) = (0, 0) to (2, %[[S]]) step (1, 24)
// CHECK: %[[ROWS:.*]] = affine.min #{{.*}}(%[[Q]])[%[[S]]]
// CHECK: tensor.extract_slice %{{.*}}[%[[H]], %[[Q]], 0] [1, %[[ROWS]], 8]
// CHECK: %[[E:.*]] = tensor.empty(%[[ROWS]], %[[S]]) : tensor<1x?x?xf32>
// CHECK: tile.contract {{.*}} outs(%[[E]] : tensor<1x?x?xf32>) attributes {exec.dim_parameters = array<i64: -1, -1, 0, -1>
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.addi %[[I]], %[[Q]]
// CHECK: tile.contract {{.*}}exec.dim_parameters = array<i64: -1, -1, -1, 0>
// CHECK: tensor.parallel_insert_slice {{.*}} [1, %[[ROWS]], 8]
func.func @open_rows(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x8xf32>,
                        %b: index {exec.size = #exec.size<affine_map<()[s0] -> (s0)>, largest = 64>}) -> tensor<2x?x8xf32> {
  %e = tensor.empty(%b) : tensor<2x?x8xf32>
  %y = tile.attention queries(%q : tensor<2x?x8xf32>) keys(%k : tensor<2x?x8xf32>)
      values(%v : tensor<2x?x8xf32>) outs(%e : tensor<2x?x8xf32>) attributes {
        exec.dim_parameters = array<i64: -1, 0, 0, -1, -1, 0, -1, 0>,
        scoresParallel = array<i64: 2, 64, 64>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 64>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 24, _ | _]>]}
      score { ^bb0(%x: f32): tile.yield %x : f32 }
      hide { ^bb0(%x: f32): 
        %lowest = arith.constant 0xFF800000 : f32
        %i = tile.index 1
        %j = tile.index 2
        %late = arith.cmpi sgt, %j, %i : index
        %z = arith.select %late, %lowest, %x : f32
        tile.yield %z : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// Some keys at a time, of rows and keys of which a caller chooses how many: what
// is made of 16 rows and 32 keys has that size at the ends as well, and only the
// operands are shorter. Tiles of which no row of the part sees a key are left
// out, and keys beyond the last one have no weight.
// CHECK-LABEL: func.func @open_keys
// CHECK-SAME: %[[S:arg[0-9]+]]: index {exec.size
// CHECK: scf.forall (%[[H:.*]], %[[Q:.*]]) = (0, 0) to (2, %[[S]]) step (1, 16)
// CHECK: %[[ROWS:.*]] = affine.min #{{.*}}(%[[Q]])[%[[S]]]
// CHECK: %[[END:.*]] = affine.min #[[LAST_SEEN]](%[[Q]])[%[[S]]]
// CHECK: %[[LOOP:.*]]:3 = scf.for %[[K:.*]] = %{{.*}} to %[[END]] step %{{.*}} -> (tensor<1x16x8xf32>, tensor<1x16xf32>, tensor<1x16xf32>)
// CHECK: %[[KEYS:.*]] = affine.min #{{.*}}(%[[K]])[%[[S]]]
// CHECK: tile.contract a(%{{.*}} : tensor<1x?x8xf32>) b(%{{.*}} : tensor<1x?x8xf32>) outs(%{{.*}} : tensor<1x16x32xf32>)
// CHECK: %[[J:.*]] = linalg.index 2
// CHECK: arith.cmpi slt, %[[J]], %[[KEYS]]
// CHECK: tile.contract a(%{{.*}} : tensor<1x16x32xf32>) b(%{{.*}} : tensor<1x?x8xf32>)
// CHECK: tensor.extract_slice %[[LOOP]]#0[0, 0, 0] [1, %[[ROWS]], 8]
// CHECK: arith.divf
// CHECK: tensor.parallel_insert_slice {{.*}} [1, %[[ROWS]], 8]
func.func @open_keys(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x8xf32>,
                        %b: index {exec.size = #exec.size<affine_map<()[s0] -> (s0)>, largest = 64>}) -> tensor<2x?x8xf32> {
  %e = tensor.empty(%b) : tensor<2x?x8xf32>
  %y = tile.attention queries(%q : tensor<2x?x8xf32>) keys(%k : tensor<2x?x8xf32>)
      values(%v : tensor<2x?x8xf32>) outs(%e : tensor<2x?x8xf32>) attributes {
        exec.dim_parameters = array<i64: -1, 0, 0, -1, -1, 0, -1, 0>,
        scoresParallel = array<i64: 2, 64, 64>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 64>,
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
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// What is added to scores ends where they end, and no product reads beyond it:
// at a score that does not exist, the last one's is read.
// CHECK-LABEL: func.func @open_mask
// CHECK: %[[ROWS:.*]] = affine.min
// CHECK: tile.contract a(%{{.*}} : tensor<1x?x8xf32>) b(%{{.*}} : tensor<1x32x8xf32>) outs(%{{.*}} : tensor<1x16x32xf32>)
// CHECK: %[[LAST:.*]] = arith.subi %[[ROWS]], %{{.*}}
// CHECK: %[[ROW:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: tensor.extract %{{.*}}[%[[ROW]], %{{.*}}] : tensor<?x32xf32>
// CHECK: arith.addf
func.func @open_mask(%q: tensor<2x?x8xf32>, %k: tensor<2x96x8xf32>, %v: tensor<2x96x8xf32>, %m: tensor<?x96xf32>,
                     %b: index {exec.size = #exec.size<affine_map<()[s0] -> (s0)>, largest = 64>}) -> tensor<2x?x8xf32> {
  %e = tensor.empty(%b) : tensor<2x?x8xf32>
  %y = tile.attention queries(%q : tensor<2x?x8xf32>) keys(%k : tensor<2x96x8xf32>)
      values(%v : tensor<2x96x8xf32>) scoring(%m : tensor<?x96xf32>) outs(%e : tensor<2x?x8xf32>) attributes {
        exec.dim_parameters = array<i64: -1, 0, -1, -1, -1, 0, -1, -1>,
        scoresParallel = array<i64: 2, 64, 96>, scoresReduced = array<i64: 8>, scoresMaps = [#queries, #keys, #mask],
        hideMaps = [], parallel = array<i64: 2, 64, 8>, reduced = array<i64: 96>,
        maps = [#weights, #values, #place], levels = [#tile.level<grid core [1, 16, _ | _]>, #tile.level<loop [_, _, _ | 32] order [3]>]}
      score { ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        tile.yield %z : f32 }
      hide { ^bb0(%x: f32): tile.yield %x : f32 }
      weigh { ^bb0(%x: f32): tile.yield %x : f32 }
      body { ^bb0(%x: f32): tile.yield %x : f32 } -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-tile-generics=elements=64 --canonicalize --cse --verify-roundtrip | FileCheck %s
// RUN: ashlar-opt %s --ashlar-interpret-kernels="through=ashlar-tile-generics{elements=64} schedules=4 tolerance=1e-6" 2>&1 >/dev/null | FileCheck %s --check-prefix=RIGHT
// RUN: ashlar-opt %s --ashlar-interpret-kernels="through=ashlar-tile-generics{elements=64},ashlar-tile-to-loops schedules=1 tolerance=1e-6" 2>&1 >/dev/null | FileCheck %s --check-prefix=RIGHT
// RUN: ashlar-opt %s --ashlar-tile-generics --remark-format=emitRemark --remarks-filter=tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=STAYS
// RUN: not ashlar-opt %s --ashlar-tile-generics=elements=0 2>&1 >/dev/null | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: expected 'elements' of 1 to 16777216, found 0

// RIGHT: 'add_row__through' interpreted under
// RIGHT: 'sum_of_squares__through' interpreted under
// RIGHT: 'largest_and_sum__through' interpreted under
// RIGHT: 'open__through' interpreted under
// RIGHT: 'numbered__through' interpreted under
// RIGHT: 'turned__through' interpreted under
// RIGHT: 'divided__through' interpreted under

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Rows of 24 fit, two at a time: as many as a divisor allows.
// CHECK-LABEL: func.func @add_row
// CHECK: scf.for %[[M:.*]] = %c0 to %c10 step %c2 {
// CHECK:   %[[X:.*]] = memref.subview %arg0[%[[M]], 0] [2, 24]
// CHECK:   %[[Y:.*]] = tile.map %[[X]], %{{.*}} maps [#{{.*}}, #{{.*}}] : memref<2x24xf32, {{.*}}>, memref<24xf32, {{.*}}> -> <2x24xf32> {
// CHECK:     arith.addf
// CHECK:   tile.drain %[[Y]] to
func.func @add_row(%x: memref<10x24xf32>, %r: memref<24xf32>, %y: memref<10x24xf32>) {
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : memref<10x24xf32>, memref<24xf32>) outs(%y : memref<10x24xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %z = arith.addf %a, %b : f32
    linalg.yield %z : f32
  }
  return
}

// Terms are shared out among the elements of an accumulator, then those of a
// row are combined, once.
// CHECK-LABEL: func.func @sum_of_squares
// CHECK: scf.for %[[M:.*]] = %c0 to %c3 step %c1 {
// CHECK:   %[[NONE:.*]] = tile.init %{{.*}} to <1x50xf32>
// CHECK:   %[[ALL:.*]] = scf.for {{.*}} = %c0 to %c100 step %c50 iter_args(%[[TOTAL:.*]] = %[[NONE]])
// CHECK:     %[[TERM:.*]] = tile.map
// CHECK:       arith.mulf
// CHECK:     %[[NEXT:.*]] = tile.map %[[TOTAL]], %[[TERM]]
// CHECK:       arith.addf
// CHECK:   %[[SUM:.*]] = tile.reduce %[[ALL]] over [1] : <1x50xf32> -> <1x1xf32>
// CHECK:   %[[OLD:.*]] = tile.load
// CHECK:   %[[NEW:.*]] = tile.map %[[OLD]], %[[SUM]]
// CHECK:   tile.drain %[[NEW]]
func.func @sum_of_squares(%x: memref<3x100xf32>, %y: memref<3xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x100xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.mulf %a, %a : f32
    %z = arith.addf %old, %s : f32
    linalg.yield %z : f32
  }
  return
}

// Two results share the loops; 97 terms are a whole tile and an end, where the
// largest is one of -inf.
// CHECK-LABEL: func.func @largest_and_sum
// CHECK: memref.subview %arg0[%{{.*}}, 0] [1, 64] [1, 1]
// CHECK-NOT: padded
// CHECK: memref.subview %arg0[%{{.*}}, 64] [1, 33] [1, 1]
// CHECK:   tile.map {{.*}} {padded}
// CHECK:     tile.index 1
// CHECK:     arith.select
// CHECK: tile.reduce
// CHECK:   arith.maximumf
func.func @largest_and_sum(%x: memref<2x97xf32>, %m: memref<2xf32>, %s: memref<2xf32>) {
  linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<2x97xf32>) outs(%m, %s : memref<2xf32>, memref<2xf32>) {
  ^bb0(%a: f32, %largest: f32, %sum: f32):
    %y = arith.maximumf %a, %largest : f32
    %z = arith.addf %a, %sum : f32
    linalg.yield %y, %z : f32, f32
  }
  return
}

// Sizes that are values: masked tiles.
// As large as a known source says that they are.
// CHECK-LABEL: func.func @open
// CHECK: scf.for
// CHECK:   tile.map {{.*}} {padded} : memref<?x?xf32, {{.*}}> -> <1x37xf32>
// CHECK:   tile.drain {{.*}} {{.*}}clipped
func.func @open(%x: memref<5x37xf32>, %y: memref<37x5xf32>) {
  %ox = memref.cast %x : memref<5x37xf32> to memref<?x?xf32>
  %oy = memref.cast %y : memref<37x5xf32> to memref<?x?xf32>
  linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]}
      ins(%ox : memref<?x?xf32>) outs(%oy : memref<?x?xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  }
  return
}

// Places are those in the whole op, and scalars are read where they are.
// CHECK-LABEL: func.func @numbered
// CHECK: tile.map
// CHECK:   %[[AT:.*]] = tile.index 0
// CHECK:   arith.addi %{{.*}}, %[[AT]]
func.func @numbered(%y: memref<200xi32>) {
  %five = arith.constant 5 : i32
  linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%five : i32) outs(%y : memref<200xi32>) {
  ^bb0(%a: i32, %old: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %z = arith.muli %n, %a : i32
    linalg.yield %z : i32
  }
  return
}

// What a body reads by its place it reads beyond the end as well: where the last
// element does. Behind 192 elements in whole tiles there are 19.
// CHECK-LABEL: func.func @turned
// CHECK: scf.for %{{.*}} = %c0 to %c192 step %c64
// CHECK:   tile.map
// CHECK-NOT: arith.minsi
// CHECK: tile.map  maps [] {padded}
// CHECK:     %[[I:.*]] = tile.index 0
// CHECK:     %[[LEAST:.*]] = arith.minsi %[[I]], %c18
// CHECK:     %[[INSIDE:.*]] = arith.maxsi %[[LEAST]], %c0
// CHECK:     %[[FROM:.*]] = arith.subi %c18, %[[INSIDE]]
// CHECK:     memref.load %arg0[%[[FROM]]]
func.func @turned(%x: memref<211xf32>, %y: memref<211xf32>) {
  %c210 = arith.constant 210 : index
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%y : memref<211xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %from = arith.subi %c210, %i : index
    %z = memref.load %x[%from] : memref<211xf32>
    linalg.yield %z : f32
  }
  return
}

// What has no such form stays.
// STAYS: Function=divided{{.*}}stays loops over single elements: {{.*}}expected operands that lie at sums of multiples of dims
// CHECK-LABEL: func.func @divided
// CHECK: linalg.generic
func.func @divided(%x: memref<8xf32>, %y: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  }
  return
}

// Which of several values is the largest is no reduction by one op.
// STAYS: Function=place_of_largest{{.*}}expected reductions by one op that may go in any order
// CHECK-LABEL: func.func @place_of_largest
// CHECK: linalg.generic
func.func @place_of_largest(%x: memref<16xf32>, %m: memref<f32>, %p: memref<i32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<16xf32>) outs(%m, %p : memref<f32>, memref<i32>) {
  ^bb0(%a: f32, %largest: f32, %place: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %more = arith.cmpf ogt, %a, %largest : f32
    %y = arith.select %more, %a, %largest : f32
    %z = arith.select %more, %n, %place : i32
    linalg.yield %y, %z : f32, i32
  }
  return
}

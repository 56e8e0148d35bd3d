// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-vectorize-generics --canonicalize --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-vectorize-generics="vector-bytes=64 registers=32" --canonicalize --split-input-file | FileCheck %s --check-prefix=WIDE

// Vectors along the contiguous dim, as wide as a register; the edge is masked,
// so that nothing beyond the buffer is touched.
// CHECK-LABEL: func.func private @elementwise
// CHECK: scf.for {{.*}} to %c16 step %c8
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK: vector.store
// CHECK: %[[MASK:.*]] = vector.constant_mask [4] : vector<8xi1>
// CHECK: vector.maskedload {{.*}}%[[MASK]]
// CHECK: vector.maskedstore {{.*}}%[[MASK]]
// CHECK-NOT: linalg.generic
// WIDE-LABEL: func.func private @elementwise
// WIDE: vector.load {{.*}} vector<16xf32>
func.func private @elementwise(%x: memref<20xf32>, %y: memref<20xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<20xf32>) outs(%y : memref<20xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.exp %u : f32
    linalg.yield %v : f32
  }
  return
}

// -----

// A sum along the contiguous dim keeps vectors of partial sums and adds up the
// lanes at the end, to what the output held before.
// CHECK-LABEL: func.func private @sum
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: arith.addf {{.*}} vector<8xf32>
// CHECK: arith.select {{.*}} vector<8xi1>
// CHECK: %[[TOTAL:.*]] = vector.reduction <add>
// CHECK: %[[OLD:.*]] = memref.load
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[TOTAL]]
// CHECK: memref.store %[[NEW]]
func.func private @sum(%x: memref<4x100xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x100xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = arith.addf %u, %o : f32
    linalg.yield %v : f32
  }
  return
}

// -----

// A matmul is a register tile, here of six rows and two vectors, that stays in
// registers; long sums go through partial sums, so that rounding errors do not
// grow with the length.
// CHECK-LABEL: func.func private @matmul
// CHECK-COUNT-12: vector.load %arg2
// CHECK: scf.for {{.*}} to %c512 step %c256
// CHECK: scf.for {{.*}} step %c1
// CHECK: memref.load %arg0
// CHECK: vector.broadcast
// CHECK-COUNT-2: vector.load %arg1
// CHECK-COUNT-12: vector.store {{.*}} %arg2
// CHECK-NOT: vector.store
// CHECK: return
func.func private @matmul(%x: memref<6x512xf32>, %w: memref<512x16xf32>, %y: memref<6x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                                   affine_map<(i, j, k) -> (k, j)>,
                                   affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<6x512xf32>, memref<512x16xf32>) outs(%y : memref<6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %v = arith.addf %o, %m : f32
    linalg.yield %v : f32
  }
  return
}

// -----

// Lanes are counted in the widest type of the body.
// CHECK-LABEL: func.func private @mixed
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: arith.extf {{.*}} vector<4xf32> to vector<4xf64>
func.func private @mixed(%x: memref<16xf32>, %y: memref<16xf64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<16xf32>) outs(%y : memref<16xf64>) {
  ^bb0(%u: f32, %o: f64):
    %v = arith.extf %u : f32 to f64
    linalg.yield %v : f64
  }
  return
}

// -----

// A division would trap on the unused lanes of a masked edge.
// CHECK-LABEL: func.func private @division
// CHECK: linalg.generic
// CHECK-NOT: vector
func.func private @division(%x: memref<20xi32>, %y: memref<20xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<20xi32>) outs(%y : memref<20xi32>) {
  ^bb0(%u: i32, %o: i32):
    %v = arith.divsi %u, %o : i32
    linalg.yield %v : i32
  }
  return
}

// -----

// The bits of a vector of booleans are packed in memory, ours are bytes.
// CHECK-LABEL: func.func private @booleans
// CHECK: linalg.generic
// CHECK-NOT: vector
func.func private @booleans(%x: memref<16xf32>, %y: memref<16xi1>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<16xf32>) outs(%y : memref<16xi1>) {
  ^bb0(%u: f32, %o: i1):
    %v = arith.cmpf oeq, %u, %u : f32
    linalg.yield %v : i1
  }
  return
}

// -----

// Two results are two vectors of one load.
// CHECK-LABEL: func.func private @twoResults
// CHECK: %[[X:.*]] = vector.load %arg0
// CHECK: %[[E:.*]] = math.exp %[[X]]
// CHECK: vector.store %[[E]], %arg1
// CHECK: vector.store %[[X]], %arg2
// CHECK-NOT: linalg.generic
#same = affine_map<(i) -> (i)>
func.func private @twoResults(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) {
  linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%x : memref<16xf32>) outs(%y, %z : memref<16xf32>, memref<16xf32>) {
  ^bb0(%u: f32, %o: f32, %p: f32):
    %v = math.exp %u : f32
    linalg.yield %v, %u : f32, f32
  }
  return
}

// -----

// A sum and a maximum of the same rows share the loads; each combines in its
// own way what lanes and the place of the result hold.
// CHECK-LABEL: func.func private @sumAndMaximum
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[X:.*]] = vector.load %arg0
// CHECK: arith.addf %[[X]],
// CHECK: arith.maximumf %[[X]],
// CHECK: vector.reduction <add>
// CHECK: memref.store {{.*}}, %arg1
// CHECK: vector.reduction <maximumf>
// CHECK: arith.maximumf
// CHECK: memref.store {{.*}}, %arg2
// CHECK-NOT: linalg.generic
func.func private @sumAndMaximum(%x: memref<4x100xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x100xf32>) outs(%y, %z : memref<4xf32>, memref<4xf32>) {
  ^bb0(%u: f32, %o: f32, %p: f32):
    %v = arith.addf %u, %o : f32
    %w = arith.maximumf %u, %p : f32
    linalg.yield %v, %w : f32, f32
  }
  return
}

// -----

// Results of other orders have no plan.
// CHECK-LABEL: func.func private @otherOrder
// CHECK: linalg.generic
// CHECK-NOT: vector
func.func private @otherOrder(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %z: memref<8x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x8xf32>) outs(%y, %z : memref<8x8xf32>, memref<8x8xf32>) {
  ^bb0(%u: f32, %o: f32, %p: f32):
    linalg.yield %u, %u : f32, f32
  }
  return
}

// -----

// The place of an element is a vector, too: a place and a value as one number
// have a maximum like any other.
// CHECK-LABEL: func.func private @placeOfLargest
// CHECK: scf.for %[[AT:.*]] = {{.*}} iter_args
// CHECK: %[[FROM:.*]] = vector.broadcast %[[AT]] : index to vector<4xindex>
// CHECK: %[[STEP:.*]] = vector.step : vector<4xindex>
// CHECK: arith.addi %[[FROM]], %[[STEP]] : vector<4xindex>
// CHECK: arith.maxsi {{.*}} : vector<4xi64>
// CHECK: vector.reduction <maxsi>
// CHECK-NOT: linalg.generic
func.func private @placeOfLargest(%x: memref<4x100xi32>, %y: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x100xi32>) outs(%y : memref<4xi64>) {
  ^bb0(%u: i32, %o: i64):
    %c32 = arith.constant 32 : i64
    %j = linalg.index 1 : index
    %place = arith.index_cast %j : index to i64
    %wide = arith.extsi %u : i32 to i64
    %high = arith.shli %wide, %c32 : i64
    %both = arith.ori %high, %place : i64
    %v = arith.maxsi %both, %o : i64
    linalg.yield %v : i64
  }
  return
}

// -----

// Along other dims than the vector's, places are all the same.
// CHECK-LABEL: func.func private @places
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK: scf.for %[[COLUMN:[^ ]*]] =
// CHECK: vector.broadcast %[[ROW]] : index to vector<4xindex>
// CHECK: %[[FROM:.*]] = vector.broadcast %[[COLUMN]] : index to vector<4xindex>
// CHECK: %[[STEP:.*]] = vector.step
// CHECK: arith.addi %[[FROM]], %[[STEP]]
// CHECK: vector.store
func.func private @places(%y: memref<3x20xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%y : memref<3x20xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.index_cast %i : index to i64
    %column = arith.index_cast %j : index to i64
    %sum = arith.addi %row, %column : i64
    linalg.yield %sum : i64
  }
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s "--ashlar-distribute-lanes=lanes=4 groups=2 shuffles" --canonicalize --cse | FileCheck %s
// RUN: ashlar-opt %s "--ashlar-distribute-lanes=lanes=4 groups=2" --canonicalize --cse | FileCheck %s --check-prefix=MEMORY

#all = affine_map<(m, n) -> (m, n)>

// Eight threads have two elements each of a row of sixteen: one sum, two
// exchanges between lanes, and one value of each group in memory, which every
// thread adds to the other one; what lies behind these two in 16 bytes is
// written as well, to be read with them. Without exchanges there are eight
// values, which one thread combines for all.
// CHECK-LABEL: func.func @row_body(
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[OWN:.*]] = arith.addf
// CHECK-NEXT: %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]], %c1{{.*}}, %c4{{.*}} : f32
// CHECK-NEXT: %[[PAIR:.*]] = arith.addf %[[OWN]], %[[OTHER]]
// CHECK-NEXT: %[[OTHER2:.*]], %{{.*}} = gpu.shuffle xor %[[PAIR]], %c2{{.*}}, %c4{{.*}} : f32
// CHECK-NEXT: %[[FOUR:.*]] = arith.addf %[[PAIR]], %[[OTHER2]]
// CHECK: %[[LEFT:.*]] = memref.alloc() : memref<4xf32, 3>
// CHECK: %[[LANE:.*]] = arith.andi %[[T]], %c3
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK: scf.if %[[FIRST]]
// CHECK: %[[PLACE:.*]] = arith.divui %[[T]], %c4
// CHECK: memref.store %[[FOUR]], %[[LEFT]][%[[PLACE]]]
// CHECK: scf.for %{{.*}} = %[[T]] to %c2 step %c8
// CHECK: memref.store %cst, %[[LEFT]]
// CHECK: gpu.barrier
// CHECK-DAG: memref.load %[[LEFT]][%c0]
// CHECK-DAG: memref.load %[[LEFT]][%c1]
// CHECK: arith.addf
// CHECK: gpu.barrier
// MEMORY-LABEL: func.func @row_body(
// MEMORY: %[[ALL:.*]] = memref.alloc() : memref<1x16xf32, 3>
// MEMORY-COUNT-2: memref.store %{{.*}}, %[[ALL]]
// MEMORY-NOT: gpu.shuffle
// MEMORY: gpu.barrier
// MEMORY: memref.load %[[ALL]]
// MEMORY: scf.for %{{.*}} = %c1 to %c16 step %c1 iter_args
// MEMORY: memref.load %[[ALL]]
// MEMORY: arith.addf
// MEMORY: gpu.barrier
exec.kernel @row calls @row_body : (memref<1x16xf32>) -> memref<1x1xf32>
func.func @row_body(%x: memref<1x16xf32>, %y: memref<1x1xf32>) attributes {tile.threads} {
  %a = tile.load %x {map = #all} : memref<1x16xf32> to <1x16xf32>
  %s = tile.reduce %a over [1] : !tile.acc<1x16xf32> -> !tile.acc<1x1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tile.yield %r : f32
  }
  tile.drain %s to %y : memref<1x1xf32> attributes {maps = [#all]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <1x1xf32>
  return
}

// All of a column is one thread's: it needs nobody else.
// CHECK-LABEL: func.func @columns_body(
// CHECK-NOT: gpu.shuffle
// CHECK-NOT: gpu.barrier
// CHECK: arith.maximumf
// CHECK: arith.maximumf
// CHECK: %[[MOST:.*]] = arith.maximumf
// CHECK-NEXT: memref.store %[[MOST]]
// CHECK: return
exec.kernel @columns calls @columns_body : (memref<4x8xf32>) -> memref<1x8xf32>
func.func @columns_body(%x: memref<4x8xf32>, %y: memref<1x8xf32>) attributes {tile.threads} {
  %a = tile.load %x {map = #all} : memref<4x8xf32> to <4x8xf32>
  %s = tile.reduce %a over [0] : !tile.acc<4x8xf32> -> !tile.acc<1x8xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    tile.yield %r : f32
  }
  tile.drain %s to %y : memref<1x8xf32> attributes {maps = [#all]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <1x8xf32>
  return
}

// Of eleven elements the last five lanes have none: their second is the least
// number there is.
// CHECK-LABEL: func.func @end_body(
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %{{.*}}, %c3
// CHECK: arith.select %[[HAS]], %{{.*}}, %c-2147483648_i32
// CHECK: arith.maxsi
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK: memref.alloc() : memref<4xi32, 3>
exec.kernel @end calls @end_body : (memref<1x11xi32>) -> memref<1x1xi32>
func.func @end_body(%x: memref<1x11xi32>, %y: memref<1x1xi32>) attributes {tile.threads} {
  %a = tile.load %x {map = #all} : memref<1x11xi32> to <1x11xi32>
  %s = tile.reduce %a over [1] : !tile.acc<1x11xi32> -> !tile.acc<1x1xi32> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.maxsi %p, %q : i32
    tile.yield %r : i32
  }
  tile.drain %s to %y : memref<1x1xi32> attributes {maps = [#all]} {
  ^bb0(%p: i32):
    tile.yield %p : i32
  } : <1x1xi32>
  return
}

// Rows of nine begin at any lane: all elements go through memory. There one
// thread combines five of a row and another one four, all threads those two.
// CHECK-LABEL: func.func @odd_body(
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK-NOT: gpu.shuffle
// CHECK: %[[LEFT:.*]] = memref.alloc() : memref<20xf32, 3>
// CHECK: scf.for %{{.*}} = %[[T]] to %c2 step %c8
// CHECK: memref.store %cst, %[[LEFT]]
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %[[T]] to %c4 step %c8
// CHECK-COUNT-4: memref.load %[[LEFT]]
// CHECK: scf.if
// CHECK: memref.load %[[LEFT]]
// CHECK: memref.store %{{.*}}, %[[LEFT]]
// CHECK: gpu.barrier
// CHECK-COUNT-2: memref.load %[[LEFT]]
// CHECK: arith.addf
// CHECK: gpu.barrier
exec.kernel @odd calls @odd_body : (memref<2x9xf32>) -> memref<2x1xf32>
func.func @odd_body(%x: memref<2x9xf32>, %y: memref<2x1xf32>) attributes {tile.threads} {
  %a = tile.load %x {map = #all} : memref<2x9xf32> to <2x9xf32>
  %s = tile.reduce %a over [1] : !tile.acc<2x9xf32> -> !tile.acc<2x1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tile.yield %r : f32
  }
  tile.drain %s to %y : memref<2x1xf32> attributes {maps = [#all]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <2x1xf32>
  return
}

// Where two ops combine, nothing can stand for what is missing, and operands
// may not change places, as they do between lanes.
// CHECK-LABEL: func.func @two_ops_body(
// CHECK-NOT: gpu.shuffle
// CHECK: memref.alloc() : memref<12xf32, 3>
exec.kernel @two_ops calls @two_ops_body : (memref<1x11xf32>) -> memref<1x1xf32>
func.func @two_ops_body(%x: memref<1x11xf32>, %y: memref<1x1xf32>) attributes {tile.threads} {
  %a = tile.load %x {map = #all} : memref<1x11xf32> to <1x11xf32>
  %s = tile.reduce %a over [1] : !tile.acc<1x11xf32> -> !tile.acc<1x1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    %z = arith.mulf %p, %q : f32
    %w = arith.addf %r, %z : f32
    tile.yield %w : f32
  }
  tile.drain %s to %y : memref<1x1xf32> attributes {maps = [#all]} {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : <1x1xf32>
  return
}

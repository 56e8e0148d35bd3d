// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-share-loops="boxes=4 work=1" --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-share-loops --split-input-file | FileCheck %s --check-prefix=FEW
// RUN: not ashlar-opt %s --ashlar-share-loops=boxes=0 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: expected 'boxes' and 'work' of 1 or more, found 0 and 16384

// A scatter along rows: each column is touched by one iteration of the inner
// loop alone. Boxes of columns copy and scatter what is theirs, in the order of
// the rows, and nothing goes through memory of the kernel's own.
// CHECK-LABEL: func.func private @scatter
// CHECK-NOT: memref.alloc
// CHECK: scf.forall (%[[FIRST:.*]]) = (0) to (64) step (16)
// CHECK: %[[FROM:.*]] = memref.subview %arg0[0, %[[FIRST]]] [8, 16] [1, 1]
// CHECK: %[[TO:.*]] = memref.subview %arg3[0, %[[FIRST]]] [8, 16] [1, 1]
// CHECK: memref.copy %[[FROM]], %[[TO]]
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: %[[END:.*]] = affine.apply {{.*}}(%[[FIRST]])
// CHECK: scf.for %[[J:.*]] = %[[FIRST]] to %[[END]] step %c1
// CHECK: memref.store {{.*}}, %arg3[{{.*}}, %[[J]]]
// FEW-LABEL: func.func private @scatter
// FEW-NOT: scf.forall
// FEW-NOT: memref.alloc
// FEW: memref.copy %arg0, %arg3
// FEW: memref.store {{.*}}, %arg3
func.func private @scatter(%x: memref<8x64xf32>, %at: memref<4x64xindex>, %u: memref<4x64xf32>, %y: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %own = memref.alloc() : memref<8x64xf32>
  memref.copy %x, %own : memref<8x64xf32> to memref<8x64xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %row = memref.load %at[%i, %j] : memref<4x64xindex>
      %value = memref.load %u[%i, %j] : memref<4x64xf32>
      %old = memref.load %own[%row, %j] : memref<8x64xf32>
      %sum = arith.addf %old, %value : f32
      memref.store %sum, %own[%row, %j] : memref<8x64xf32>
    }
  }
  memref.copy %own, %y : memref<8x64xf32> to memref<8x64xf32>
  return
}

// -----

// Fewer updates than columns: the last boxes only copy.
// CHECK-LABEL: func.func private @shorter
// CHECK: scf.forall (%[[FIRST:.*]]) = (0) to (64) step (16)
// CHECK: %[[END:.*]] = affine.min {{.*}}(%[[FIRST]])
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step
func.func private @shorter(%x: memref<8x64xf32>, %at: memref<40xindex>, %u: memref<40xf32>, %y: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  memref.copy %x, %y : memref<8x64xf32> to memref<8x64xf32>
  scf.for %j = %c0 to %c40 step %c1 {
    %row = memref.load %at[%j] : memref<40xindex>
    %value = memref.load %u[%j] : memref<40xf32>
    memref.store %value, %y[%row, %j] : memref<8x64xf32>
  }
  return
}

// -----

// Memory of an iteration's own is no reason against it.
// CHECK-LABEL: func.func private @ownMemory
// CHECK: scf.forall
func.func private @ownMemory(%x: memref<16x8xf32>, %y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %sum = memref.alloc() : memref<f32>
    memref.store %zero, %sum[] : memref<f32>
    scf.for %j = %c0 to %c8 step %c1 {
      %old = memref.load %sum[] : memref<f32>
      %value = memref.load %x[%i, %j] : memref<16x8xf32>
      %new = arith.addf %old, %value : f32
      memref.store %new, %sum[] : memref<f32>
    }
    %all = memref.load %sum[] : memref<f32>
    memref.store %all, %y[%i] : memref<16xf32>
  }
  return
}

// -----

// What one iteration leaves for the next one stays in order.
// CHECK-LABEL: func.func private @carried
// CHECK-NOT: scf.forall
func.func private @carried(%x: memref<16xf32>, %y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %sum = memref.alloc() : memref<f32>
  memref.store %zero, %sum[] : memref<f32>
  scf.for %i = %c0 to %c16 step %c1 {
    %old = memref.load %sum[] : memref<f32>
    %value = memref.load %x[%i] : memref<16xf32>
    %new = arith.addf %old, %value : f32
    memref.store %new, %sum[] : memref<f32>
    memref.store %new, %y[%i] : memref<16xf32>
  }
  return
}

// -----

// So does what may be another iteration's: a place read from memory, and one
// beside its own.
// CHECK-LABEL: func.func private @anywhere
// CHECK-NOT: scf.forall
func.func private @anywhere(%at: memref<16xindex>, %y: memref<16xf32>) {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %place = memref.load %at[%i] : memref<16xindex>
    memref.store %one, %y[%place] : memref<16xf32>
  }
  return
}
// CHECK-LABEL: func.func private @beside
// CHECK-NOT: scf.forall
func.func private @beside(%y: memref<17xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %next = arith.addi %i, %c1 : index
    %value = memref.load %y[%i] : memref<17xf32>
    memref.store %value, %y[%next] : memref<17xf32>
  }
  return
}

// -----

// Nor is a result shared that something reads behind the loop.
// CHECK-LABEL: func.func private @readLater
// CHECK-NOT: scf.forall
func.func private @readLater(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %value = memref.load %x[%i] : memref<16xf32>
    memref.store %value, %y[%i] : memref<16xf32>
  }
  memref.copy %y, %z : memref<16xf32> to memref<16xf32>
  return
}

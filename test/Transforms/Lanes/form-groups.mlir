// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-groups --split-input-file | FileCheck %s

// The boxes of the one loop are numbered; a group's number gives its box.
// CHECK-LABEL: exec.kernel @boxes
// CHECK-SAME: grid [#exec.size<12>] scratch 0
// CHECK: func.func private @boxes_body
// CHECK-SAME: %[[X:.*]]: memref<8x12xf32>, %[[SCRATCH:.*]]: memref<0xi8>, %[[BEGIN:.*]]: index, %[[END:.*]]: index
// CHECK: scf.for %[[GROUP:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[BOX:.*]]:2 = affine.delinearize_index %[[GROUP]] into (4, 3)
// CHECK: affine.apply {{.*}}(%[[BOX]]#0)
// CHECK: affine.apply {{.*}}(%[[BOX]]#1)
// CHECK: linalg.fill
// CHECK-NOT: scf.forall
exec.kernel @boxes calls @boxes_body : () -> memref<8x12xf32>
func.func private @boxes_body(%x: memref<8x12xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %j) = (0, 0) to (8, 12) step (2, 4) {
    %s = memref.subview %x[%i, %j] [2, 4] [1, 1]
        : memref<8x12xf32> to memref<2x4xf32, strided<[12, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%s : memref<2x4xf32, strided<[12, 1], offset: ?>>)
  }
  return
}

// -----

// Work beside the boxes belongs to no box: the kernel is one group.
// CHECK-LABEL: exec.kernel @beside
// CHECK-SAME: grid [#exec.size<1>]
// CHECK: scf.for
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: linalg.fill
// CHECK-NOT: scf.forall
exec.kernel @beside calls @beside_body : () -> (memref<8xf32>, memref<8xf32>)
func.func private @beside_body(%x: memref<8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  scf.forall (%i) = (0) to (8) step (2) {
    %s = memref.subview %x[%i] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%s : memref<2xf32, strided<[1], offset: ?>>)
  }
  return
}

// -----

// Up to 1024 bytes are on the stack; more are in the scratch, each buffer at a
// multiple of 64 bytes.
// CHECK-LABEL: exec.kernel @memory
// CHECK-SAME: scratch 2176
// CHECK: func.func private @memory_body
// CHECK-SAME: %[[SCRATCH:[a-z0-9]+]]: memref<2176xi8>
// CHECK: memref.alloca() {{.*}} : memref<256xf32>
// CHECK: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[SCRATCH]][%[[FIRST]]][] : memref<2176xi8> to memref<257xf32>
// CHECK: %[[SECOND:.*]] = arith.constant 1088 : index
// CHECK: memref.view %[[SCRATCH]][%[[SECOND]]][] : memref<2176xi8> to memref<1025xi8>
// CHECK-NOT: memref.alloc()
exec.kernel @memory calls @memory_body : () -> memref<8xf32>
func.func private @memory_body(%x: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %byte = arith.constant 0 : i8
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<257xf32>
  %c = memref.alloc() : memref<1025xi8>
  linalg.fill ins(%zero : f32) outs(%a : memref<256xf32>)
  linalg.fill ins(%zero : f32) outs(%b : memref<257xf32>)
  linalg.fill ins(%byte : i8) outs(%c : memref<1025xi8>)
  return
}

// -----

// A size that varies counts with its upper bound.
// CHECK-LABEL: exec.kernel @bounded
// CHECK-SAME: grid [#exec.size<4>] scratch 1216
// CHECK: memref.view {{.*}} : memref<1216xi8> to memref<?xf32>
exec.kernel @bounded calls @bounded_body : () -> memref<1000xf32>
func.func private @bounded_body(%x: memref<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) = (0) to (1000) step (300) {
    %n = affine.min affine_map<(d0) -> (-d0 + 1000, 300)>(%i)
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
    %s = memref.subview %x[%i] [%n] [1] : memref<1000xf32> to memref<?xf32, strided<[1], offset: ?>>
    memref.copy %a, %s : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// What is no kernel is left alone.
// CHECK-LABEL: func.func private @other(
// CHECK-SAME: memref<8xf32>)
func.func private @other(%x: memref<8xf32>) {
  return
}

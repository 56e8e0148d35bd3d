// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels threads compute together, by what they would share.
// RUN: ashlar-opt %s --ashlar-tile-generics="elements=64 whole=1 memory=1024" | FileCheck %s
// RUN: ashlar-opt %s --ashlar-tile-generics="elements=64 whole=1 memory=224" | FileCheck %s --check-prefix=ALONE
// RUN: ashlar-opt %s --ashlar-tile-generics="elements=64 whole=1 memory=224" --remark-format=emitRemark --remarks-filter=tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The buffer has at most ten rows; what passes between threads, 40 numbers,
// joins it: 10 * 4 and 40 * 4 bytes, each rounded up to 64.
// CHECK-LABEL: func.func @rows({{.*}}) attributes {tile.threads}
// CHECK: memref.alloc() : memref<40xi8>
// CHECK: memref.view {{.*}} : memref<40xi8> to memref<?xf32>
// CHECK: tile.reduce
// CHECK-NOT: linalg.generic
// ALONE-LABEL: func.func @rows(
// ALONE-NOT: tile.threads
// ALONE: memref.alloc(%{{.*}}) : memref<?xf32>
// ALONE: linalg.generic
// WHY: Function=rows{{.*}}Bytes=256, MostBytes=224, {{.*}}each part of its kernel is one thread's work: {{.*}} bytes of shared memory would be in use at one time
func.func @rows(%x: memref<37x200xf32>, %y: memref<37x200xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) = (0) to (37) step (10) {
    %n = affine.min affine_map<(d0) -> (37 - d0, 10)>(%i)
    %in = memref.subview %x[%i, 0] [%n, 200] [1, 1] : memref<37x200xf32> to memref<?x200xf32, strided<[200, 1], offset: ?>>
    %out = memref.subview %y[%i, 0] [%n, 200] [1, 1] : memref<37x200xf32> to memref<?x200xf32, strided<[200, 1], offset: ?>>
    %sum = memref.alloc(%n) : memref<?xf32>
    linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%zero : f32) outs(%sum : memref<?xf32>) {
    ^bb0(%a: f32, %old: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
        ins(%in : memref<?x200xf32, strided<[200, 1], offset: ?>>) outs(%sum : memref<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
    linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
        ins(%in, %sum : memref<?x200xf32, strided<[200, 1], offset: ?>>, memref<?xf32>)
        outs(%out : memref<?x200xf32, strided<[200, 1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %c = arith.divf %a, %b : f32
      linalg.yield %c : f32
    }
  }
  return
}

// What has no form for many is named.
// CHECK-LABEL: func.func @copied(
// CHECK-NOT: tile.threads
// WHY: Function=copied{{.*}}each part of its kernel is one thread's work: {{.*}}memref.copy{{.*}} has no form for many
func.func @copied(%x: memref<8xf32>, %y: memref<8xf32>) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  return
}

// What is done once, as the division of a mean of all is, is a loop of one
// iteration: one thread of many does it.
// CHECK-LABEL: func.func @once({{.*}}) attributes {tile.threads}
// CHECK: memref.expand_shape %arg0 [] output_shape [1] : memref<f32> into memref<1xf32>
// CHECK: tile.map %
// CHECK-NOT: linalg.generic
func.func @once(%x: memref<f32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : memref<f32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %old: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}

// Of a pool, memory that says how far loops go and nothing else: none is left
// beside the parts, which would make one workgroup do all of them.
// CHECK-LABEL: func.func @pooled({{.*}}) attributes {tile.threads}
// CHECK-NOT: memref.alloc
// CHECK: scf.forall
// CHECK: tile.reduce
func.func @pooled(%x: memref<64x20xf32>, %y: memref<64x18xf32>) {
  %window = memref.alloc() : memref<3xf32>
  scf.forall (%i) = (0) to (64) step (2) {
    %in = memref.subview %x[%i, 0] [2, 20] [1, 1] : memref<64x20xf32> to memref<2x20xf32, strided<[20, 1], offset: ?>>
    %out = memref.subview %y[%i, 0] [2, 18] [1, 1] : memref<64x18xf32> to memref<2x18xf32, strided<[18, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 + d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%in, %window : memref<2x20xf32, strided<[20, 1], offset: ?>>, memref<3xf32>)
        outs(%out : memref<2x18xf32, strided<[18, 1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %c = arith.maximumf %a, %old : f32
      linalg.yield %c : f32
    }
  }
  return
}

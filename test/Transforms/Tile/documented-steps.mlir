// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-vectorize-steps --canonicalize | FileCheck %s
// CHECK: scf.for
// CHECK: scf.for {{.*}} step %c32 iter_args({{.*}}) -> (vector<8xf32>,
// CHECK: scf.for {{.*}} step %c4 iter_args({{.*}}) -> (vector<8xf32>,
// CHECK-COUNT-32: vector.fma
// CHECK-COUNT-8: arith.addf {{.*}} vector<8xf32>
// CHECK-COUNT-8: vector.store
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#n = affine_map<(m, n) -> (n)>
#mn = affine_map<(m, n) -> (m, n)>
!rows = memref<4x32xf32, strided<[64, 1], offset: ?>>
!columns = memref<32x16xf32, strided<[16, 1], offset: ?>>
!box = memref<4x16xf32, strided<[16, 1], offset: ?>>
func.func @product(%a: memref<8x64xf32>, %b: memref<64x16xf32>, %bias: memref<16xf32>,
                   %c: memref<8x16xf32>) {
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  scf.for %m = %c0 to %c8 step %c4 {
    %none = tile.init %zero : f32 to !tile.acc<4x16xf32>
    %all = scf.for %k = %c0 to %c64 step %c32 iter_args(%total = %none) -> (!tile.acc<4x16xf32>) {
      %rows = memref.subview %a[%m, %k] [4, 32] [1, 1] : memref<8x64xf32> to !rows
      %columns = memref.subview %b[%k, 0] [32, 16] [1, 1] : memref<64x16xf32> to !columns
      %chunk = tile.step %none, %rows, %columns {
        aMap = #mk, bMap = #kn, reduced = array<i64: 32>, unroll = 4 : i64}
        : !tile.acc<4x16xf32>, !rows, !columns
      %sum = tile.add %total, %chunk : !tile.acc<4x16xf32>
      scf.yield %sum : !tile.acc<4x16xf32>
    }
    %view = memref.cast %bias : memref<16xf32> to memref<16xf32, strided<[1]>>
    %box = memref.subview %c[%m, 0] [4, 16] [1, 1] : memref<8x16xf32> to !box
    tile.drain %all epilogue(%view : memref<16xf32, strided<[1]>>) to %box : !box
        attributes {maps = [#n, #mn]} {
    ^bb0(%sum: f32, %p: f32):
      %y = arith.addf %sum, %p : f32
      tile.yield %y : f32
    } : !tile.acc<4x16xf32>
  }
  return
}

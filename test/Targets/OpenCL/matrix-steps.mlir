// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-lower-threads --split-input-file --verify-diagnostics | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#fragment = #tile.fragment<registers [1, 0, 2, 0, 4, 0], lanes [0, 1, 0, 2, 0, 4, 0, 8]>

// A lane brings a term of each of 8 rows, and its column's, two in a word; the
// wait for copies that threads made is the barrier's.
// CHECK: func.func private @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f(vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
// CHECK-LABEL: func.func @rows
func.func @rows(%lane: index, %p: index, %x: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xf16, 3>
  %rb = memref.alloc() : memref<512xf16, 3>
  // CHECK-NOT: tile.slot_of
  %a = tile.slot_of %ra[%p] : memref<512xf16, 3> to !tile.slot<8x32xf16, "local", #tile.layout<pad [0, 2]>>
  %b = tile.slot_of %rb[%p] : memref<512xf16, 3> to !tile.slot<32x16xf16, "local">
  // CHECK-NOT: tile.thread_wait
  tile.thread_wait 0
  // CHECK: %[[A:.*]] = memref.alloc() : memref<512xf16, 3>
  // CHECK-COUNT-8: vector.load %[[A]][%{{.*}}] {alignment = 2 : i64} : memref<512xf16, 3>, vector<1xf16>
  // CHECK-COUNT-16: vector.load %{{.*}} {alignment = 2 : i64} : memref<512xf16, 3>, vector<1xf16>
  // CHECK: call @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f
  // CHECK-COUNT-8: vector.load %[[A]]
  // CHECK: call @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f
  // CHECK-NOT: call
  %0:8 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32) a %a[] : !tile.slot<8x32xf16, "local", #tile.layout<pad [0, 2]>> b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 32>, type = !tile.acc<8x16xf32, fragment = #fragment>}
    : !tile.slot<32x16xf16, "local"> -> f32, f32, f32, f32, f32, f32, f32, f32
  return %0#0, %0#7 : f32, f32
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#fragment = #tile.fragment<registers [1, 0, 2, 0, 4, 0], lanes [0, 1, 0, 2, 0, 4, 0, 8]>

// Terms that lie side by side are loaded as words.
// CHECK-LABEL: func.func @columns
func.func @columns(%lane: index, %p: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xbf16, 3>
  %rb = memref.alloc() : memref<512xbf16, 3>
  %a = tile.slot_of %ra[%p] : memref<512xbf16, 3> to !tile.slot<8x16xbf16, "local", #tile.layout<pad [0, 2]>>
  %b = tile.slot_of %rb[%p] : memref<512xbf16, 3> to !tile.slot<16x16xbf16, "local", #tile.layout<pad [0, 2]>>
  // CHECK-COUNT-8: vector.load %{{.*}} {alignment = 4 : i64} : memref<512xbf16, 3>, vector<2xbf16>
  // CHECK: call @_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f
  %0:8 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32) a %a[] : !tile.slot<8x16xbf16, "local", #tile.layout<pad [0, 2]>> b %b[] {aMap = #mk, bMap = #nk, reduced = array<i64: 16>, type = !tile.acc<8x16xf32, fragment = #fragment>}
    : !tile.slot<16x16xbf16, "local", #tile.layout<pad [0, 2]>> -> f32, f32, f32, f32, f32, f32, f32, f32
  return %0#0 : f32
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#fragment = #tile.fragment<registers [1, 0, 2, 0, 4, 0], lanes [0, 1, 0, 2, 0, 4, 0, 8]>

// Bytes are 32 terms a step: two of a row a lane, four of its column in a word.
// Each operand's sign is in the function's name.
// CHECK: func.func private @_Z36intel_sub_group_u8_i8_matrix_mad_k32Dv8_tDv8_iS0_(vector<8xi16>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
// CHECK-LABEL: func.func @bytes
func.func @bytes(%lane: index, %p: index, %x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xi8, 3>
  %rb = memref.alloc() : memref<512xi8, 3>
  %a = tile.slot_of %ra[%p] : memref<512xi8, 3> to !tile.slot<8x32xi8, "local", #tile.layout<pad [0, 4]>>
  %b = tile.slot_of %rb[%p] : memref<512xi8, 3> to !tile.slot<16x32xi8, "local", #tile.layout<pad [0, 4]>>
  // CHECK: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK: arith.muli %{{.*}}, %[[TWO]] : index
  // CHECK-COUNT-8: vector.load %{{.*}} {alignment = 2 : i64} : memref<512xi8, 3>, vector<2xi8>
  // CHECK-COUNT-8: vector.load %{{.*}} {alignment = 4 : i64} : memref<512xi8, 3>, vector<4xi8>
  // CHECK: call @_Z36intel_sub_group_u8_i8_matrix_mad_k32Dv8_tDv8_iS0_
  %0:8 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x, %x, %x, %x, %x : i32, i32, i32, i32, i32, i32, i32, i32) a %a[] : !tile.slot<8x32xi8, "local", #tile.layout<pad [0, 4]>> b %b[] {aMap = #mk, bMap = #nk, reduced = array<i64: 32>, type = !tile.acc<8x16xi32, fragment = #fragment>, aUnsigned}
    : !tile.slot<16x32xi8, "local", #tile.layout<pad [0, 4]>> -> i32, i32, i32, i32, i32, i32, i32, i32
  return %0#0 : i32
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#fragment = #tile.fragment<registers [1, 0, 2, 0, 4, 0], lanes [0, 1, 0, 2, 0, 4]>

// A subgroup of 8: a lane brings twice as many terms of each row.
// CHECK: func.func private @_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_iS_Dv8_f(vector<8xi32>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
// CHECK-LABEL: func.func @eight
func.func @eight(%lane: index, %p: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xbf16, 3>
  %rb = memref.alloc() : memref<512xbf16, 3>
  %a = tile.slot_of %ra[%p] : memref<512xbf16, 3> to !tile.slot<8x16xbf16, "local", #tile.layout<pad [0, 2]>>
  %b = tile.slot_of %rb[%p] : memref<512xbf16, 3> to !tile.slot<8x16xbf16, "local", #tile.layout<pad [0, 2]>>
  // CHECK: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK: arith.muli %{{.*}}, %[[TWO]] : index
  // CHECK-COUNT-16: vector.load %{{.*}} {alignment = 4 : i64} : memref<512xbf16, 3>, vector<2xbf16>
  // CHECK: call @_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_iS_Dv8_f
  // CHECK-NOT: call
  %0:8 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32) a %a[] : !tile.slot<8x16xbf16, "local", #tile.layout<pad [0, 2]>> b %b[] {aMap = #mk, bMap = #nk, reduced = array<i64: 16>, type = !tile.acc<8x8xf32, fragment = #fragment>}
    : !tile.slot<8x16xbf16, "local", #tile.layout<pad [0, 2]>> -> f32, f32, f32, f32, f32, f32, f32, f32
  return %0#0 : f32
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#fragment = #tile.fragment<registers [1, 0, 2, 0, 4, 0], lanes [0, 1, 0, 2, 0, 4]>

// What stands twice among a name's arguments is said by its place.
// CHECK: func.func private @_Z36intel_sub_group_i8_u8_matrix_mad_k32Dv8_iDv8_jS_(vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
func.func @eight_of_bytes(%lane: index, %p: index, %x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xi8, 3>
  %rb = memref.alloc() : memref<512xi8, 3>
  %a = tile.slot_of %ra[%p] : memref<512xi8, 3> to !tile.slot<8x32xi8, "local", #tile.layout<pad [0, 4]>>
  %b = tile.slot_of %rb[%p] : memref<512xi8, 3> to !tile.slot<8x32xi8, "local", #tile.layout<pad [0, 4]>>
  %0:8 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x, %x, %x, %x, %x : i32, i32, i32, i32, i32, i32, i32, i32) a %a[] : !tile.slot<8x32xi8, "local", #tile.layout<pad [0, 4]>> b %b[] {aMap = #mk, bMap = #nk, reduced = array<i64: 32>, type = !tile.acc<8x8xi32, fragment = #fragment>, bUnsigned}
    : !tile.slot<8x32xi8, "local", #tile.layout<pad [0, 4]>> -> i32, i32, i32, i32, i32, i32, i32, i32
  return %0#0 : i32
}

// -----

#kn = affine_map<(m, n, k) -> (k, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#fragment = #tile.fragment<registers [1, 0, 2, 0, 4, 0], lanes [0, 1, 0, 2, 0, 4]>

// Terms of a that lanes hold: a lane has one of every 8 columns, so a word of b
// has the terms 0 and 8, then 1 and 9.
// CHECK-LABEL: func.func @held
func.func @held(%lane: index, %p: index, %x: f32, %h: f16, %g: f16) -> f32 {
  %c0 = arith.constant 0 : index
  %rb = memref.alloc() : memref<512xf16, 3>
  %b = tile.slot_of %rb[%p] : memref<512xf16, 3> to !tile.slot<16x8xf16, "local">
  // CHECK: %[[H:.*]] = arith.bitcast %{{.*}} : f16 to i16
  // CHECK: %[[G:.*]] = arith.bitcast %{{.*}} : f16 to i16
  // CHECK: arith.extui %[[H]] : i16 to i32
  // CHECK: %[[HIGH:.*]] = arith.extui %[[G]] : i16 to i32
  // CHECK: arith.shli %[[HIGH]]
  // CHECK: call @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f
  %0:8 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32) held (%h, %h, %h, %h, %h, %h, %h, %h, %g, %g, %g, %g, %g, %g, %g, %g : f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f16) b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, type = !tile.acc<8x8xf32, fragment = #fragment>}
    : !tile.slot<16x8xf16, "local"> -> f32, f32, f32, f32, f32, f32, f32, f32
  return %0#0 : f32
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>

func.func @other(%lane: index, %p: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xf32, 3>
  %rb = memref.alloc() : memref<512xf32, 3>
  %a = tile.slot_of %ra[%p] : memref<512xf32, 3> to !tile.slot<8x16xf32, "local">
  %b = tile.slot_of %rb[%p] : memref<512xf32, 3> to !tile.slot<16x16xf32, "local">
  // expected-error @below {{expected f16, bf16 or bytes in fragments of 8 x 16 or 8 x 8 and whole steps of 16 terms, or of 32 bytes, as dpas has them}}
  %0:8 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32) a %a[] : !tile.slot<8x16xf32, "local"> b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, type = !tile.acc<8x16xf32, fragment = #tile.fragment<registers [1, 0, 2, 0, 4, 0], lanes [0, 1, 0, 2, 0, 4, 0, 8]>>}
    : !tile.slot<16x16xf32, "local"> -> f32, f32, f32, f32, f32, f32, f32, f32
  return %0#0 : f32
}

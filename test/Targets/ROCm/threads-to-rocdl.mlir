// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-threads-to-rocdl=processor=gfx942 --split-input-file --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: ashlar-opt %s --ashlar-threads-to-rocdl=processor=gfx1100 --split-input-file --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,RDNA

// CHECK-LABEL: func.func @kernel
func.func @kernel(%y: memref<32xf32>) {
  // CHECK: %[[ID:.*]] = rocdl.workitem.id.x : i32
  // CHECK: %[[T:.*]] = arith.index_cast %[[ID]] : i32 to index
  %t = gpu.thread_id x
  // CHECK: memref.load %{{.*}}[%[[T]]]
  %x = memref.load %y[%t] : memref<32xf32>
  // CHECK: llvm.fence syncscope("workgroup") release
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
  gpu.barrier
  memref.store %x, %y[%t] : memref<32xf32>
  return
}

// -----

// Lanes whose numbers differ in these bits: within four, a half row, a row, two
// rows, all.
// CHECK-LABEL: func.func @exchange
func.func @exchange(%x: f32, %y: f64, %z: bf16, %n: i32) -> (f32, f32, f32, f64, bf16, f32) {
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  // CHECK: %[[W:.*]] = arith.bitcast %{{.*}} : f32 to i32
  // CHECK: rocdl.update.dpp %[[W]], %[[W]] with 78, 15, 15, true : i32
  %a, %0 = gpu.shuffle xor %x, %c2, %c32 : f32
  // CDNA: rocdl.update.dpp {{.*}} with 321, 15, 15, true
  // CDNA: rocdl.update.dpp {{.*}} with 27, 15, 15, true
  // RDNA: rocdl.update.dpp {{.*}} with 356, 15, 15, true
  %b, %1 = gpu.shuffle xor %x, %c4, %c32 : f32
  // CDNA: rocdl.update.dpp {{.*}} with 296, 15, 15, true
  // RDNA: rocdl.update.dpp {{.*}} with 360, 15, 15, true
  %c, %2 = gpu.shuffle xor %x, %c8, %c32 : f32
  // Two words.
  // CDNA-COUNT-2: rocdl.ds_swizzle %{{.*}}, %{{.*}} : (i32, i32) -> i32
  // RDNA-COUNT-2: rocdl.permlanex16
  // CHECK: arith.bitcast %{{.*}} : i64 to f64
  %d, %3 = gpu.shuffle xor %y, %c16, %c32 : f64
  // Less than a word.
  // CHECK: arith.extui %{{.*}} : i16 to i32
  // CHECK: rocdl.update.dpp
  %e, %4 = gpu.shuffle xor %z, %c2, %c16 : bf16
  // An offset that nobody knows.
  // CHECK: rocdl.mbcnt.lo
  // CDNA: rocdl.mbcnt.hi
  // RDNA-NOT: rocdl.mbcnt.hi
  // CHECK: arith.xori
  // CHECK: rocdl.ds_bpermute
  %f, %5 = gpu.shuffle xor %x, %n, %c32 : f32
  return %a, %b, %c, %d, %e, %f : f32, f32, f32, f64, bf16, f32
}

// -----

func.func @down(%x: f32) -> f32 {
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  // expected-error @below {{expected a number of up to 64 bits that lanes whose numbers differ in some bits exchange}}
  %a, %0 = gpu.shuffle down %x, %c2, %c32 : f32
  return %a : f32
}

// -----

// A copy that nothing follows is stored at once, one in front of a step behind
// it: in front of the next barrier. What does not exist is read where something
// is.
// CHECK-LABEL: func.func @copy
func.func @copy(%x: memref<64x64xbf16>, %i: index, %p: index, %inside: i1) {
  %ring = memref.alloc() : memref<4096xbf16, 3>
  // CHECK: %[[V:.*]] = vector.load %{{.*}}[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<64x64xbf16>, vector<8xbf16>
  // CHECK: vector.store %[[V]], %{{.*}}[%{{.*}}] {alignment = 16 : i64} : memref<4096xbf16, 3>, vector<8xbf16>
  tile.thread_copy %x[%i, %i], %ring[%p] {elements = 8 : i64} : memref<64x64xbf16>, memref<4096xbf16, 3>
  // CHECK: %[[I:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
  // CHECK: %[[J:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
  // CHECK: %[[W:.*]] = vector.load %{{.*}}[%[[I]], %[[J]]]
  // CHECK: %[[Z:.*]] = arith.select %{{.*}}, %[[W]], %{{.*}} : vector<8xbf16>
  // CHECK: vector.store %[[Z]]
  tile.thread_copy %x[%i, %i], %ring[%p], %inside {elements = 8 : i64} : memref<64x64xbf16>, memref<4096xbf16, 3>
  // Of a piece that ends in it, zeros behind a row's end.
  // CHECK: %[[P:.*]] = vector.load
  // CHECK: %[[M:.*]] = vector.create_mask %{{.*}} : vector<8xi1>
  // CHECK: %[[Q:.*]] = arith.select %[[M]], %[[P]], %{{.*}} : vector<8xi1>, vector<8xbf16>
  // CHECK: vector.store %[[Q]]
  tile.thread_copy %x[%i, %i], %ring[%p] first %i {elements = 8 : i64} : memref<64x64xbf16>, memref<4096xbf16, 3>
  tile.thread_close
  // CHECK-NOT: tile.thread
  tile.thread_wait 0
  return
}

// -----

// A fragment that no instruction has.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
func.func @fragment(%lane: index, %p: index, %x: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xbf16, 3>
  %rb = memref.alloc() : memref<256xbf16, 3>
  %a = tile.slot_of %ra[%p] : memref<512xbf16, 3> to !tile.slot<16x16xbf16, "lds">
  %b = tile.slot_of %rb[%p] : memref<256xbf16, 3> to !tile.slot<16x8xbf16, "lds">
  // expected-error @below {{expected types, whole steps of terms and the fragment of a 16x16 matrix instruction of the chip, found}}
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : f32, f32, f32, f32) a %a[] : !tile.slot<16x16xbf16, "lds"> b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 16>,
    type = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>}
    : !tile.slot<16x8xbf16, "lds"> -> f32, f32, f32, f32
  return %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32
}

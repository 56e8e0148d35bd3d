// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-threads-to-nvvm --verify-diagnostics | FileCheck %s

// A warp's products of bytes: 32 terms, of which 16 bytes each are a row of a
// matrix; each operand has its sign, and sums are words.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
// CHECK-LABEL: func.func @bytes
func.func @bytes(%lane: index, %p: index, %x: i32) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xi8, 3>
  %rb = memref.alloc() : memref<256xi8, 3>
  %a = tile.slot_of %ra[%p] : memref<512xi8, 3> to !tile.slot<16x32xi8, "shared", #tile.layout<swizzle [1, 4, 3]>>
  %b = tile.slot_of %rb[%p] : memref<256xi8, 3> to !tile.slot<8x32xi8, "shared">
  // CHECK: arith.muli %{{.*}}, %c16{{[_0-9]*}} : index
  // CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];"
  // CHECK: "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];"
  // CHECK: "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT: mma.sync
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : i32, i32, i32, i32) a %a[] : !tile.slot<16x32xi8, "shared", #tile.layout<swizzle [1, 4, 3]>> b %b[] {aMap = #mk, aUnsigned, bMap = #nk, reduced = array<i64: 32>,
    type = !tile.acc<16x8xi32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>}
    : !tile.slot<8x32xi8, "shared"> -> i32, i32, i32, i32
  return %0#0, %0#1, %0#2, %0#3 : i32, i32, i32, i32
}

// -----

// Of f32, eight terms, rounded on the way: the unit would leave bits out.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
// CHECK-LABEL: func.func @tf32
func.func @tf32(%lane: index, %p: index, %x: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<128xf32, 3>
  %rb = memref.alloc() : memref<64xf32, 3>
  %a = tile.slot_of %ra[%p] : memref<128xf32, 3> to !tile.slot<16x8xf32, "shared", #tile.layout<swizzle [1, 2, 3]>>
  %b = tile.slot_of %rb[%p] : memref<64xf32, 3> to !tile.slot<8x8xf32, "shared">
  // CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK-COUNT-4: "cvt.rna.tf32.f32 $0, $1;", "=r,r"
  // CHECK: "ldmatrix.sync.aligned.m8n8.x2.shared.b16
  // CHECK-COUNT-2: "cvt.rna.tf32.f32 $0, $1;", "=r,r"
  // CHECK: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {{.*}}", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : f32, f32, f32, f32) a %a[] : !tile.slot<16x8xf32, "shared", #tile.layout<swizzle [1, 2, 3]>> b %b[] {aMap = #mk, bMap = #nk, reduced = array<i64: 8>,
    type = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>}
    : !tile.slot<8x8xf32, "shared"> -> f32, f32, f32, f32
  return %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32
}

// -----

// Four warps: bytes have neither signs to change nor another order, TF32 has
// signs; 32 terms of bytes are 32 bytes on, two units of 16.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
// CHECK-LABEL: func.func @warpgroups
func.func @warpgroups(%lane: index, %p: index, %x: i32, %y: f32) -> (i32, i32, i32, i32, f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() {alignment = 1024 : i64} : memref<4096xi8, 3>
  %rb = memref.alloc() {alignment = 1024 : i64} : memref<512xi8, 3>
  %rc = memref.alloc() {alignment = 1024 : i64} : memref<512xf32, 3>
  %rd = memref.alloc() {alignment = 1024 : i64} : memref<64xf32, 3>
  %a = tile.slot_of %ra[%p] : memref<4096xi8, 3> to !tile.slot<64x64xi8, "shared", #tile.layout<swizzle [2, 4, 3]>>
  %b = tile.slot_of %rb[%p] : memref<512xi8, 3> to !tile.slot<8x64xi8, "shared", #tile.layout<swizzle [2, 4, 3]>>
  %c = tile.slot_of %rc[%p] : memref<512xf32, 3> to !tile.slot<64x8xf32, "shared", #tile.layout<swizzle [1, 2, 3]>>
  %d = tile.slot_of %rd[%p] : memref<64xf32, 3> to !tile.slot<8x8xf32, "shared", #tile.layout<swizzle [1, 2, 3]>>
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {$0, $1, $2, $3}, a, b, p;
  // CHECK-SAME: add.s64 a, $9, 2;
  // CHECK-SAME: "=r,=r,=r,=r,0,1,2,3,l,l,~{memory}"
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : i32, i32, i32, i32) a %a[] : !tile.slot<64x64xi8, "shared", #tile.layout<swizzle [2, 4, 3]>> b %b[] {aMap = #mk, bMap = #nk, bUnsigned, reduced = array<i64: 64>,
    type = !tile.acc<64x8xi32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0, 16, 0, 32, 0], in_flight 1>>}
    : !tile.slot<8x64xi8, "shared", #tile.layout<swizzle [2, 4, 3]>> -> i32, i32, i32, i32
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, a, b, p, 1, 1;
  // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,l,l,~{memory}"
  %1:4 = tile.thread_step %lane at [%c0, %c0](%y, %y, %y, %y : f32, f32, f32, f32) a %c[] : !tile.slot<64x8xf32, "shared", #tile.layout<swizzle [1, 2, 3]>> b %d[] {aMap = #mk, bMap = #nk, reduced = array<i64: 8>,
    type = !tile.acc<64x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0, 16, 0, 32, 0], in_flight 1>>}
    : !tile.slot<8x8xf32, "shared", #tile.layout<swizzle [1, 2, 3]>> -> f32, f32, f32, f32
  // CHECK: "wgmma.wait_group.sync.aligned 0;", "=r,=r,=r,=r,0,1,2,3,~{memory}"
  %2:4 = tile.thread_settle %0#0, %0#1, %0#2, %0#3 : i32, i32, i32, i32 -> i32, i32, i32, i32
  return %2#0, %2#1, %2#2, %2#3, %1#0, %1#1, %1#2, %1#3 : i32, i32, i32, i32, f32, f32, f32, f32
}

// -----

// Bytes whose terms lie rows apart: nothing reads them across.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
func.func @across(%lane: index, %p: index, %x: i32) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xi8, 3>
  %rb = memref.alloc() : memref<256xi8, 3>
  %a = tile.slot_of %ra[%p] : memref<512xi8, 3> to !tile.slot<16x32xi8, "shared">
  %b = tile.slot_of %rb[%p] : memref<256xi8, 3> to !tile.slot<32x8xi8, "shared">
  // expected-error @below {{side by side but of 16 bits}}
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : i32, i32, i32, i32) a %a[] : !tile.slot<16x32xi8, "shared"> b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 32>,
    type = !tile.acc<16x8xi32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>}
    : !tile.slot<32x8xi8, "shared"> -> i32, i32, i32, i32
  return %0#0, %0#1, %0#2, %0#3 : i32, i32, i32, i32
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-threads-to-nvvm | FileCheck %s

// Copies of 16 bytes, zeros where there is nothing.
// CHECK-LABEL: func.func @copy
func.func @copy(%x: memref<64x64xbf16>, %i: index, %p: index, %inside: i1) {
  %ring = memref.alloc() : memref<4096xbf16, 3>
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "cp.async.cg.shared.global [$0], [$1], 16;", "r,l,~{memory}"
  tile.thread_copy %x[%i, %i], %ring[%p] {elements = 8 : i64} : memref<64x64xbf16>, memref<4096xbf16, 3>
  // CHECK: %[[N:.*]] = arith.select %{{.*}}, %c16{{.*}}, %c0{{.*}} : i32
  // CHECK: "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}" %{{.*}}, %{{.*}}, %[[N]]
  tile.thread_copy %x[%i, %i], %ring[%p], %inside {elements = 8 : i64} : memref<64x64xbf16>, memref<4096xbf16, 3>
  // CHECK: "cp.async.commit_group;"
  tile.thread_close
  // CHECK: "cp.async.wait_group 2;"
  // CHECK-NOT: fence.proxy
  tile.thread_wait 2
  return
}

// -----

// A warp: matrices of both operands, a of rows, b of columns read across.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
// CHECK-LABEL: func.func @warp
func.func @warp(%lane: index, %p: index, %x: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xbf16, 3>
  %rb = memref.alloc() : memref<256xbf16, 3>
  %a = tile.slot_of %ra[%p] : memref<512xbf16, 3> to !tile.slot<16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %b = tile.slot_of %rb[%p] : memref<256xbf16, 3> to !tile.slot<16x8xbf16, "shared">
  // CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}"
  // CHECK: "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"
  // CHECK: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT: mma.sync
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : f32, f32, f32, f32) a %a[] : !tile.slot<16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>> b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 16>,
    type = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>}
    : !tile.slot<16x8xbf16, "shared"> -> f32, f32, f32, f32
  return %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32
}

// -----

// Four warps: a step is one piece of text, from the fence to the end of its
// group. b's terms lie 128 bytes apart: 8 of them, 1024 bytes, are bits 32 on, and
// 16 of them are 2048 bytes on, 128 units of 16. What threads have copied, the
// unit sees behind a fence.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
// CHECK-LABEL: func.func @warpgroup
func.func @warpgroup(%lane: index, %p: index, %x: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() {alignment = 1024 : i64} : memref<2048xf16, 3>
  %rb = memref.alloc() {alignment = 1024 : i64} : memref<2048xf16, 3>
  %a = tile.slot_of %ra[%p] : memref<2048xf16, 3> to !tile.slot<64x32xf16, "shared", #tile.layout<swizzle [2, 3, 3]>>
  %b = tile.slot_of %rb[%p] : memref<2048xf16, 3> to !tile.slot<32x8xf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  // CHECK: "cp.async.wait_group 0;"
  // CHECK: "fence.proxy.async.shared::cta;"
  tile.thread_wait 0
  // CHECK: wgmma.fence.sync.aligned;
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, a, b, p, 1, 1, 0, 1;
  // CHECK-SAME: add.s64 a, $9, 2;
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
  // CHECK-SAME: wgmma.commit_group.sync.aligned;
  // CHECK-NOT: wait_group 0
  // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,l,l,~{memory}"
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : f32, f32, f32, f32) a %a[] : !tile.slot<64x32xf16, "shared", #tile.layout<swizzle [2, 3, 3]>> b %b[] {aMap = #mk, bMap = #kn, asynchronous, reduced = array<i64: 32>,
    type = !tile.acc<64x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0, 16, 0, 32, 0], in_flight 1>>}
    : !tile.slot<32x8xf16, "shared", #tile.layout<swizzle [1, 3, 3]>> -> f32, f32, f32, f32
  // CHECK: "wgmma.wait_group.sync.aligned 1;"
  tile.thread_wait steps 1
  // CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
  %1:4 = tile.thread_settle %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32 -> f32, f32, f32, f32
  return %1#0, %1#1, %1#2, %1#3 : f32, f32, f32, f32
}

// -----

// What threads hold of a: words of two neighbours, rounded as they are packed.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
// CHECK-LABEL: func.func @held
func.func @held(%lane: index, %p: index, %x: f32, %w: f32, %h: bf16) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %rb = memref.alloc() {alignment = 1024 : i64} : memref<256xbf16, 3>
  %b = tile.slot_of %rb[%p] : memref<256xbf16, 3> to !tile.slot<16x8xbf16, "shared">
  %n = arith.truncf %w : f32 to bf16
  // CHECK: %[[W:.*]] = llvm.inline_asm asm_dialect = att "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f" %{{.*}}, %{{.*}}
  // CHECK-NOT: ldmatrix{{.*}}x4
  // CHECK: mma.sync.aligned.m16n8k16{{.*}} %[[W]],
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : f32, f32, f32, f32)
    held(%n, %n, %h, %h, %n, %n, %h, %h : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16) b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 16>,
    type = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>}
    : !tile.slot<16x8xbf16, "shared"> -> f32, f32, f32, f32
  return %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32
}

// -----

// Four warps: words take the place of a's descriptor, and nothing says how a
// lies.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
// CHECK-LABEL: func.func @held_warpgroup
func.func @held_warpgroup(%lane: index, %p: index, %x: f32, %h: f16) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %rb = memref.alloc() {alignment = 1024 : i64} : memref<128xf16, 3>
  %b = tile.slot_of %rb[%p] : memref<128xf16, 3> to !tile.slot<8x16xf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, {$9, $10, $11, $12}, b, p, 1, 1, 0;
  // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,l,r,r,r,r,~{memory}"
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : f32, f32, f32, f32)
    held(%h, %h, %h, %h, %h, %h, %h, %h : f16, f16, f16, f16, f16, f16, f16, f16) b %b[] {aMap = #mk, bMap = #nk, reduced = array<i64: 16>,
    type = !tile.acc<64x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0, 16, 0, 32, 0], in_flight 1>>}
    : !tile.slot<8x16xf16, "shared", #tile.layout<swizzle [1, 3, 3]>> -> f32, f32, f32, f32
  return %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32
}

// -----

// Where an approximation will do, and not elsewhere; the largest of two is one
// instruction, NaN included.
// CHECK-LABEL: func.func @functions
func.func @functions(%x: f32, %y: f32, %z: f16) -> (f32, f32, f32, f16) {
  // CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: llvm.inline_asm asm_dialect = att "ex2.approx.ftz.f32 $0, $1;", "=f,f" %[[P]]
  %0 = math.exp %x fastmath<afn> : f32
  // CHECK: math.exp %{{.*}} : f32
  %1 = math.exp %x : f32
  // CHECK: llvm.intr.maximum
  %2 = arith.maximumf %x, %y : f32
  // CHECK: arith.maximumf %{{.*}} : f16
  %3 = arith.maximumf %z, %z : f16
  return %0, %1, %2, %3 : f32, f32, f32, f16
}

// -----

// Results that leave by the copy engine: rows of four matrices of a warp, a
// meeting behind which the engine sees them, and a box in a group of its own.
// CHECK-LABEL: func.func @stores
func.func @stores(%y: memref<64x128xbf16>, %p: index, %i: index, %j: index, %w: i32) {
  %boxes = memref.alloc() {alignment = 1024 : i64} : memref<4096xi16, 3>
  // CHECK: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
  tile.thread_matrix_store %w, %w, %w, %w to %boxes[%p] : memref<4096xi16, 3>
  // CHECK-NOT: fence
  // CHECK: nvvm.bar.warp.sync
  tile.thread_lanes_meet
  // CHECK: "fence.proxy.async.shared::cta;", "~{memory}"
  // CHECK: nvvm.bar.warp.sync
  tile.thread_lanes_meet published
  // CHECK: llvm.mlir.addressof @tensor_map.0
  // CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$1, {$2, $3}], [$0];\0Acp.async.bulk.commit_group;", "r,l,r,r,~{memory}"
  tile.thread_box_store %boxes[%p], %y[%i, %j] map 0 : memref<4096xi16, 3>, memref<64x128xbf16>
  // CHECK: "cp.async.bulk.wait_group.read 1;"
  tile.thread_box_wait %boxes but 1 : memref<4096xi16, 3>
  return
}

// -----

// What a loop carries for a step is packed where it is computed, and steps of
// others go on behind the wait for some.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
// CHECK-LABEL: func.func @carried
// CHECK: %[[FIRST:.*]] = llvm.inline_asm asm_dialect = att "cvt.rn.f16x2.f32
// CHECK: scf.for {{.*}} iter_args({{.*}}%[[W:[^ ]*]] = %[[FIRST]], {{.*}}) -> (f32, f32, f32, f32, i32, i32, i32, i32)
// CHECK: wgmma.mma_async{{.*}} %[[W]],
// CHECK: "wgmma.wait_group.sync.aligned 1;"
// CHECK: %[[NEXT:.*]] = llvm.inline_asm asm_dialect = att "cvt.rn.f16x2.f32
// CHECK: scf.yield {{.*}} %[[NEXT]],
func.func @carried(%lane: index, %p: index, %x: f32, %w: f32, %n: index) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rb = memref.alloc() {alignment = 1024 : i64} : memref<128xf16, 3>
  %b = tile.slot_of %rb[%p] : memref<128xf16, 3> to !tile.slot<8x16xf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %h = arith.truncf %w : f32 to f16
  %all:12 = scf.for %i = %c0 to %n step %c1 iter_args(%s0 = %x, %s1 = %x, %s2 = %x, %s3 = %x, %h0 = %h, %h1 = %h, %h2 = %h, %h3 = %h, %h4 = %h, %h5 = %h, %h6 = %h, %h7 = %h) -> (f32, f32, f32, f32, f16, f16, f16, f16, f16, f16, f16, f16) {
    %0:4 = tile.thread_step %lane at [%c0, %c0](%s0, %s1, %s2, %s3 : f32, f32, f32, f32)
      held(%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7 : f16, f16, f16, f16, f16, f16, f16, f16) b %b[] {aMap = #mk, bMap = #nk, asynchronous, reduced = array<i64: 16>,
      type = !tile.acc<64x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0, 16, 0, 32, 0], in_flight 1>>}
      : !tile.slot<8x16xf16, "shared", #tile.layout<swizzle [1, 3, 3]>> -> f32, f32, f32, f32
    %1:4 = tile.thread_settle %0#0, %0#1, %0#2, %0#3 {pending = 1 : i64} : f32, f32, f32, f32 -> f32, f32, f32, f32
    %y = arith.mulf %1#0, %w : f32
    %z = arith.truncf %y : f32 to f16
    scf.yield %1#0, %1#1, %1#2, %1#3, %z, %z, %z, %z, %z, %z, %z, %z : f32, f32, f32, f32, f16, f16, f16, f16, f16, f16, f16, f16
  }
  return %all#0, %all#1, %all#2, %all#3 : f32, f32, f32, f32
}

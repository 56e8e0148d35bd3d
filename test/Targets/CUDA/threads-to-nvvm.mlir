// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ashlar-opt %s --ashlar-threads-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @kernel
func.func @kernel(%y: memref<32xf32>) {
  // CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[T:.*]] = arith.index_cast %[[ID]] : i32 to index
  %t = gpu.thread_id x
  // CHECK: memref.load %{{.*}}[%[[T]]]
  %x = memref.load %y[%t] : memref<32xf32>
  // CHECK: nvvm.barrier0
  gpu.barrier
  memref.store %x, %y[%t] : memref<32xf32>
  return
}

// -----

// Words are exchanged: two of what has 64 bits, one of what has fewer than 32.
// CHECK-LABEL: func.func @exchange
func.func @exchange(%x: f32, %y: f64, %z: bf16) -> (f32, f64, bf16) {
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  // CHECK: %[[W:.*]] = arith.bitcast %{{.*}} : f32 to i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[W]], %c2{{.*}}, %c31{{.*}} : i32 -> i32
  %a, %0 = gpu.shuffle xor %x, %c2, %c32 : f32
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  // CHECK: arith.bitcast %{{.*}} : i64 to f64
  %b, %1 = gpu.shuffle xor %y, %c2, %c32 : f64
  // Within the 16 lanes of a half.
  // CHECK: arith.extui %{{.*}} : i16 to i32
  // CHECK: nvvm.shfl.sync bfly {{.*}}, %c4127_i32 : i32 -> i32
  %c, %2 = gpu.shuffle xor %z, %c2, %c16 : bf16
  return %a, %b, %c : f32, f64, bf16
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

// A fragment that no instruction has: lanes lie the other way round.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
func.func @fragment(%lane: index, %p: index, %x: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %ra = memref.alloc() : memref<512xbf16, 3>
  %rb = memref.alloc() : memref<256xbf16, 3>
  %a = tile.slot_of %ra[%p] : memref<512xbf16, 3> to !tile.slot<16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %b = tile.slot_of %rb[%p] : memref<256xbf16, 3> to !tile.slot<16x8xbf16, "shared">
  // expected-error @below {{expected f8E4M3FN, f8E5M2, f16, bf16 or f32 into f32 or i8 into i32, whole steps of 32 bytes of terms, side by side but of 16 bits, and the fragment of mma.m16n8k16 or wgmma, found}}
  %0:4 = tile.thread_step %lane at [%c0, %c0](%x, %x, %x, %x : f32, f32, f32, f32) a %a[] : !tile.slot<16x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>> b %b[] {aMap = #mk, bMap = #kn, reduced = array<i64: 16>,
    type = !tile.acc<16x8xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [1, 0, 2, 0, 4, 0, 0, 2, 0, 4]>>}
    : !tile.slot<16x8xbf16, "shared"> -> f32, f32, f32, f32
  return %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32
}

// -----

// Words that count arrivals, copies that end at them, and barriers of some.
// CHECK-LABEL: func.func @phases
func.func @phases(%x: memref<64x32xbf16>, %i: index, %j: index, %p: i32) {
  %words = memref.alloc() : memref<4xi64, 3>
  %slots = memref.alloc() : memref<1024xbf16, 3>
  // CHECK: llvm.inline_asm {{.*}} "mbarrier.init.shared::cta.b64 [$0], 8;", "r,~{memory}"
  tile.phase_begin %words[%i] of 8 : memref<4xi64, 3>
  // CHECK: "fence.mbarrier_init.release.cluster;"
  tile.phase_publish
  // CHECK: "{\0A.reg .pred p;\0AWAIT${:uid}:\0Ambarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\0A@!p bra WAIT${:uid};\0A}", "r,r,~{memory}"
  tile.phase_wait %words[%i], %p : memref<4xi64, 3>
  // CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 1024;"
  tile.phase_arrive %words[%i] {expecting = 1024 : i64} : memref<4xi64, 3>
  // CHECK: llvm.mlir.addressof @tensor_map.0
  // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}"
  tile.thread_box_copy %x[%i, %j], %slots[%i], %words[%i] map 0 : memref<64x32xbf16>, memref<1024xbf16, 3>, memref<4xi64, 3>
  // CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];"
  tile.phase_arrive %words[%i] : memref<4xi64, 3>
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  tile.thread_meet 256
  // Barriers behind that one.
  // CHECK: %[[B:.*]] = arith.addi %{{.*}}, %c2_i32
  // CHECK: "bar.sync $0, 256;", "r,~{memory}" %[[B]]
  tile.thread_turn %p of 256
  // CHECK: "bar.arrive $0, 256;", "r,~{memory}"
  tile.thread_turn %p of 256 arrives
  // CHECK: "setmaxnreg.inc.sync.aligned.u32 232;"
  tile.thread_registers 232 more
  // CHECK: "setmaxnreg.dec.sync.aligned.u32 40;"
  tile.thread_registers 40
  // CHECK: "mbarrier.inval.shared::cta.b64 [$0];"
  tile.phase_end %words[%i] : memref<4xi64, 3>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-threads-to-nvvm | FileCheck %s

// Blocks of a cluster: a copy goes to all of them, by a bit for each; who is
// done with a slot says so in the memory of another block.
// CHECK-LABEL: func.func @cluster
func.func @cluster(%x: memref<64x64xbf16>, %p: index, %parity: i32) {
  %ring = memref.alloc() {alignment = 1024 : i64} : memref<4096xbf16, 3>
  %phases = memref.alloc() : memref<4xi64, 3>
  %c1 = arith.constant 1 : index
  // CHECK: "barrier.cluster.arrive.release;\0Abarrier.cluster.wait.acquire;"
  tile.cluster_meet
  // CHECK: %[[RANK:.*]] = llvm.inline_asm asm_dialect = att "mov.u32 $0, %cluster_ctarank;", "=r"
  %rank = tile.cluster_rank
  // CHECK: "{{.*}}mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [$0], $1;
  tile.phase_wait %phases[%p], %parity {cluster} : memref<4xi64, 3>
  // CHECK: %[[ALL:.*]] = arith.constant 3 : i16
  // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1, {$2, $3}], [$4], $5;", "r,l,r,r,r,h,~{memory}"
  // CHECK-SAME: %[[ALL]]
  tile.thread_box_copy %x[%rank, %c1], %ring[%p], %phases[%p] map 0 {to = 3 : i64} : memref<64x64xbf16>, memref<4096xbf16, 3>, memref<4xi64, 3>
  // CHECK: "{\0A.reg .b32 r;\0Amapa.shared::cluster.u32 r, $0, $1;\0Ambarrier.arrive.release.cluster.shared::cluster.b64 _, [r];\0A}", "r,r,~{memory}"
  tile.phase_arrive %phases[%p] at %rank : memref<4xi64, 3>
  return
}

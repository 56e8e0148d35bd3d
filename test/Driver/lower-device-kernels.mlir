// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each device's pipeline takes its own kernels, and the first device's those of
// a device that lowers none.
// RUN: ashlar-opt %s --ashlar-lower-device-kernels=target=cpu:x86-64-v3+cuda:sm_90a | FileCheck %s
// RUN: not ashlar-opt %s --ashlar-lower-device-kernels 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ashlar-opt %s --ashlar-lower-device-kernels=target=cpu:z80 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Vectors on the processor; threads, fragments and a ring on the GPU.
// CHECK-LABEL: exec.kernel @near
// CHECK-NOT: block
// CHECK-LABEL: func.func private @near_body
// CHECK: vector.fma
// CHECK-NOT: gpu.thread_id
// CHECK-LABEL: exec.kernel @far
// CHECK-SAME: device 1
// CHECK-SAME: block [{{[0-9]+}}]
// CHECK-LABEL: func.func private @far_body
// CHECK: gpu.thread_id
// CHECK-NOT: vector.fma
// CHECK: tile.thread_step

// NONE: target=: expected one program, TARGET:PRESET
// UNKNOWN: target=cpu:z80: 'z80' is not a preset of cpu; it has
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
exec.kernel @near calls @near_body : (memref<16x64xf32>, memref<64x16xf32>) -> memref<16x16xf32>
func.func private @near_body(%a: memref<16x64xf32>, %b: memref<64x16xf32>, %c: memref<16x16xf32>) {
  tile.contract a(%a : memref<16x64xf32>) b(%b : memref<64x16xf32>) outs(%c : memref<16x16xf32>) attributes {
    parallel = array<i64: 16, 16>, reduced = array<i64: 64>, maps = [#mk, #kn, #mn],
    strategy = #tile.strategy<"fma-f32" m [0] n [1] k [2], loop [4, 16 | _] order [0, 1], acc vectors>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}
exec.kernel @far calls @far_body : (memref<64x64xbf16>, memref<64x64xbf16>) -> memref<64x64xf32> device 1
func.func private @far_body(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>) {
  tile.contract a(%a : memref<64x64xbf16>) b(%b : memref<64x64xbf16>) outs(%c : memref<64x64xf32>) attributes {
    parallel = array<i64: 64, 64>, reduced = array<i64: 64>, maps = [#mk, #kn, #mn], device = 1 : i64,
    strategy = #tile.strategy<"mma-bf16" m [0] n [1] k [2], grid block [32, 32 | _], loop [32, 32 | 32] order [2], group warp [16, 32 | _],
      a: ring shared at 1 slots 2 by cp.async #tile.layout<swizzle [2, 3, 3]>, b: ring shared at 1 slots 2 by cp.async #tile.layout<swizzle [2, 3, 3]>,
      acc registers, hints {fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>}>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

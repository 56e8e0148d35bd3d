// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One contraction and what is chosen for it on six machines, three of them
// without a target: the same op, the same attribute.
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/sm_90a.json | FileCheck %s --check-prefix=SM90
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/gfx942.json | FileCheck %s --check-prefix=CDNA
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/opencl-gpu.json | FileCheck %s --check-prefix=OPENCL
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/array-128.json | FileCheck %s --check-prefix=ARRAY
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=cpu:sapphirerapids | FileCheck %s --check-prefix=AMX
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=cpu:znver4 | FileCheck %s --check-prefix=AVX512

// SM90: strategy = #tile.strategy<"wgmma-bf16" m [0] n [1] k [2],
// SM90-SAME: {{ }}grid cluster [128, 128 | _]
// SM90-SAME: {{ }}grid workgroup [64, 128 | _]
// SM90-SAME: {{ }}loop [64, 128 | 128] order [2]
// SM90-SAME: {{ }}a: ring shared at 2 slots 3 by tma #tile.layout<block 64, swizzle [3, 3, 3]>
// SM90-SAME: {{ }}b: ring shared at 2 slots 3 by tma multicast #tile.layout<block 64, swizzle [3, 3, 3]>
// SM90-SAME: {{ }}acc registers
// SM90-SAME: {{ }}masked [0]>

// CDNA: strategy = #tile.strategy<"mfma-32x32x8-bf16" m [0] n [1] k [2],
// CDNA-SAME: {{ }}grid workgroup [64, 64 | _]
// CDNA-SAME: {{ }}loop [64, 64 | 64] order [2]
// CDNA-SAME: {{ }}group subgroup [32, 32 | _]
// CDNA-SAME: {{ }}a: ring registers at 1 slots 1 by load16
// CDNA-SAME: {{ }}a: ring lds at 1 slots 4 by "ds-write" #tile.layout<swizzle [3, 3, 3]>
// CDNA-SAME: {{ }}b: ring registers at 1 slots 1 by load16
// CDNA-SAME: {{ }}b: ring lds at 1 slots 4 by "ds-write" #tile.layout<swizzle [3, 3, 3]>
// CDNA-SAME: {{ }}acc registers
// CDNA-SAME: {{ }}masked [0]>

// OPENCL: strategy = #tile.strategy<"lanes-f32" m [0] n [1] k [2],
// OPENCL-SAME: {{ }}grid workgroup [32, 128 | _]
// OPENCL-SAME: {{ }}loop [32, 128 | 32] order [2]
// OPENCL-SAME: {{ }}group subgroup [4, 128 | _]
// OPENCL-SAME: {{ }}a: ring local at 1 slots 2 by lanes #tile.layout<pad [0, 2]>
// OPENCL-SAME: {{ }}b: ring local at 1 slots 2 by lanes #tile.layout<pad [0, 2]>
// OPENCL-SAME: {{ }}acc registers
// OPENCL-SAME: {{ }}masked [0]>

// ARRAY: strategy = #tile.strategy<"array" m [0] n [1] k [2],
// ARRAY-SAME: {{ }}loop [512, 512 | 128] order [0, 1, 2]
// ARRAY-SAME: {{ }}a: ring scratchpad at 0 slots 2 by load
// ARRAY-SAME: {{ }}b: ring scratchpad at 0 slots 2 by load
// ARRAY-SAME: {{ }}acc accumulator
// ARRAY-SAME: {{ }}masked [0]>

// AMX: strategy = #tile.strategy<"tile-bf16" shape [16, 16, 32] m [0] n [1] k [2 | 3],
// AMX-SAME: {{ }}grid core [512, 256 | _, _]
// AMX-SAME: {{ }}loop [_, 32 | _, _] order [1]
// AMX-SAME: {{ }}loop [32, 32 | _, _] order [0]
// AMX-SAME: {{ }}b: pack l2 at 1
// AMX-SAME: {{ }}acc tiles
// AMX-SAME: {{ }}hints {unroll = 4 : i64}>

// AVX512: strategy = #tile.strategy<"dot-bf16" m [0] n [1] k [2 | 3],
// AVX512-SAME: {{ }}grid core [_, 128 | _, _]
// AVX512-SAME: {{ }}loop [_, 64 | _, _] order [1]
// AVX512-SAME: {{ }}loop [6, 64 | 192, _] order [0, 2]
// AVX512-SAME: {{ }}b: pack l2 at 1
// AVX512-SAME: {{ }}acc vectors promote 2
// AVX512-SAME: {{ }}hints {unroll = 4 : i64}>

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @product(%a: memref<1000x768xbf16>, %b: memref<768x1024xbf16>, %c: memref<1000x1024xf32>) {
  tile.contract a(%a : memref<1000x768xbf16>) b(%b : memref<768x1024xbf16>) outs(%c : memref<1000x1024xf32>) attributes {
    parallel = array<i64: 1000, 1024>, reduced = array<i64: 768>, maps = [#a, #b, #c]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  }
  return
}

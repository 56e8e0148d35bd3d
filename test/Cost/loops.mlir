// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same contraction as loops on the same machines, by the same pass.
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/sm_90a.json --ashlar-expand-contracts --canonicalize --cse | FileCheck %s --check-prefix=SM90
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/gfx942.json --ashlar-expand-contracts --canonicalize --cse | FileCheck %s --check-prefix=CDNA
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/opencl-gpu.json --ashlar-expand-contracts --canonicalize --cse | FileCheck %s --check-prefix=OPENCL
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=%S/../Machines/array-128.json --ashlar-expand-contracts --canonicalize --cse | FileCheck %s --check-prefix=ARRAY
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=cpu:sapphirerapids --ashlar-expand-contracts --canonicalize --cse | FileCheck %s --check-prefix=AMX
// RUN: ashlar-opt %s --ashlar-choose-strategies=machine=cpu:znver4 --ashlar-expand-contracts --canonicalize --cse | FileCheck %s --check-prefix=AVX512

// SM90: scf.forall (%{{.*}}, %{{.*}}) = ({{.*}}) step (128, 128)
// SM90: scf.forall (%{{.*}}) = ({{.*}}) step (64)
// SM90-DAG: tile.alloc : <3, 128x128xbf16, "shared", #tile.layout<block 64, swizzle [3, 3, 3]>>
// SM90-DAG: tile.alloc : <3, 64x128xbf16, "shared", #tile.layout<block 64, swizzle [3, 3, 3]>>
// SM90: tile.init {{.*}} to <64x128xf32>
// SM90: scf.for %{{.*}} step %c128 iter_args
// SM90: tile.copy {{.*}}engine = "tma"{{.*}}padded
// SM90: tile.copy {{.*}}engine = "tma"
// SM90: tile.step {{.*}}reduced = array<i64: 128>
// SM90: tile.release
// SM90: tile.release
// SM90: tile.drain{{.*}}clipped

// CDNA: scf.forall (%{{.*}}, %{{.*}}) = ({{.*}}) step (64, 64)
// CDNA-DAG: tile.alloc : <4, 64x64xbf16, "lds", #tile.layout<swizzle [3, 3, 3]>>
// CDNA-DAG: tile.alloc : <1, 64x64xbf16, "registers">
// CDNA-DAG: tile.alloc : <4, 64x64xbf16, "lds", #tile.layout<swizzle [3, 3, 3]>>
// CDNA-DAG: tile.alloc : <1, 64x64xbf16, "registers">
// CDNA: tile.init {{.*}} to <64x64xf32, groups = [group subgroup [32, 32{{\]\]}}>
// CDNA: scf.for %{{.*}} step %c64 iter_args
// CDNA: tile.copy {{.*}}engine = "load16"{{.*}}padded
// CDNA: tile.copy {{.*}}engine = "ds-write"
// CDNA: tile.copy {{.*}}engine = "load16"
// CDNA: tile.copy {{.*}}engine = "ds-write"
// CDNA: tile.step {{.*}}reduced = array<i64: 64>
// CDNA: tile.release
// CDNA: tile.release
// CDNA: tile.release
// CDNA: tile.release
// CDNA: tile.drain{{.*}}clipped

// OPENCL: scf.forall (%{{.*}}, %{{.*}}) = ({{.*}}) step (32, 128)
// OPENCL-DAG: tile.alloc : <2, 32x128xbf16, "local", #tile.layout<pad [0, 2]>>
// OPENCL-DAG: tile.alloc : <2, 32x32xbf16, "local", #tile.layout<pad [0, 2]>>
// OPENCL: tile.init {{.*}} to <32x128xf32, groups = [group subgroup [4, 128{{\]\]}}>
// OPENCL: scf.for %{{.*}} step %c32 iter_args
// OPENCL: tile.copy {{.*}}engine = "lanes"{{.*}}padded
// OPENCL: tile.copy {{.*}}engine = "lanes"
// OPENCL: tile.step {{.*}}reduced = array<i64: 32>
// OPENCL: tile.release
// OPENCL: tile.release
// OPENCL: tile.drain{{.*}}clipped

// ARRAY-DAG: tile.alloc : <2, 128x512xbf16, "scratchpad">
// ARRAY-DAG: tile.alloc : <2, 512x128xbf16, "scratchpad">
// ARRAY: scf.for %{{.*}} step %c512
// ARRAY: scf.for %{{.*}} step %c512
// ARRAY: tile.init {{.*}} to <512x512xf32>
// ARRAY: scf.for %{{.*}} step %c128 iter_args
// ARRAY: tile.copy {{.*}}engine = "load"{{.*}}padded
// ARRAY: tile.copy {{.*}}engine = "load"
// ARRAY: tile.step {{.*}}reduced = array<i64: 128>
// ARRAY: tile.release
// ARRAY: tile.release
// ARRAY: tile.drain{{.*}}clipped

// AMX: scf.forall (%{{.*}}, %{{.*}}) = ({{.*}}) step (512, 256)
// AMX: scf.for %{{.*}} step %c32
// AMX-DAG: tile.alloc : <1, 384x32x2xbf16, "l2">
// AMX: tile.copy
// AMX: tile.view
// AMX: scf.for %{{.*}} step %c32
// AMX: tile.init {{.*}} to <32x32xf32, registers = [16, 16]>
// AMX: tile.step {{.*}}reduced = array<i64: 384, 2>
// AMX: tile.drain

// AVX512: scf.forall (%{{.*}}) = ({{.*}}) step (128)
// AVX512: scf.for %{{.*}} step %c64
// AVX512-DAG: tile.alloc : <1, 384x64x2xbf16, "l2">
// AVX512: tile.copy
// AVX512: tile.view
// AVX512: scf.for %{{.*}} step %c6
// AVX512: tile.init {{.*}} to <6x64xf32>
// AVX512: scf.for %{{.*}} step %c192 iter_args
// AVX512: tile.step {{.*}}reduced = array<i64: 192, 2>
// AVX512: tile.add
// AVX512: tile.drain

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

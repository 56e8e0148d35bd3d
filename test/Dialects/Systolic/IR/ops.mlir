// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --verify-roundtrip | FileCheck %s

// Every command, with what may stand beside it.
// CHECK-LABEL: func.func @commands
func.func @commands(%x: memref<256x128xbf16>, %t: memref<3080xi8>) {
  // CHECK: systolic.region "layer" contraction 4096
  systolic.region "layer" contraction 4096
  // CHECK: systolic.region "kept" contraction 1 input_stationary
  systolic.region "kept" contraction 1 input_stationary
  // CHECK: systolic.config_execute {aStride = 2 : i32, bTransposed}
  systolic.config_execute {aStride = 2 : i32, bTransposed}
  // CHECK: systolic.config_load 1 stride = 256 block_stride = 128 {narrow}
  systolic.config_load 1 stride = 256 block_stride = 128 {narrow}
  // CHECK: systolic.config_store stride = 256 {relu, scale = 5.000000e-01 : f32}
  systolic.config_store stride = 256 {relu, scale = 0.5 : f32}
  // CHECK: systolic.config_stream a level = 1 count = 56 rows = -58
  systolic.config_stream a level = 0 count = 4 rows = 1
  systolic.config_stream a level = 1 count = 56 rows = -58
  // CHECK: systolic.config_stream mvin0 level = 0 count = 4 rows = 1 {bytes = 12 : i64}
  systolic.config_stream mvin0 level = 0 count = 4 rows = 1 {bytes = 12 : i64}
  // CHECK: systolic.config_columns mvout first = 64 {blockStride = 256 : i32}
  systolic.config_columns mvout first = 64 {blockStride = 256 : i32}
  // CHECK: systolic.config_vector one_row {integer}
  systolic.config_vector one_row {integer}
  // CHECK: systolic.mvin 0, %{{.*}}[256] to scratchpad[64] 16 x 256 : memref<256x128xbf16>
  systolic.mvin 0, %x[256] to scratchpad[64] 16 x 256 : memref<256x128xbf16>
  // CHECK: systolic.mvin 2 to accumulator[3] add 4 x 128
  systolic.mvin 2 to accumulator[3] add 4 x 128
  // CHECK: systolic.mvout accumulator[0] wide 2 x 8 to %{{.*}}[0] : memref<256x128xbf16>
  systolic.mvout accumulator[0] wide 2 x 8 to %x[0] : memref<256x128xbf16>
  // CHECK: systolic.table 3, %{{.*}}[0] : memref<3080xi8>
  systolic.table 3, %t[0] : memref<3080xi8>
  // CHECK: systolic.preload none 0 x 0 into accumulator[7] add 9 x 10 {array = 3 : i32}
  systolic.preload none 0 x 0 into accumulator[7] add 9 x 10 {array = 3 : i32}
  // CHECK: systolic.compute scratchpad[5] 9 x 12, none 0 x 0 {again, array = 3 : i32}
  systolic.compute scratchpad[5] 9 x 12, none 0 x 0 {again, array = 3 : i32}
  // CHECK: systolic.vector add accumulator[0] 8 x 128 of accumulator[8], scratchpad[1]
  systolic.vector add accumulator[0] 8 x 128 of accumulator[8], scratchpad[1]
  // CHECK: systolic.vector fill scratchpad[0] 8 x 128 {immediate = 1 : i32}
  systolic.vector fill scratchpad[0] 8 x 128 {immediate = 1 : i32}
  // CHECK: systolic.vector lookup accumulator[0] 8 x 128 of accumulator[0] {immediate = 3 : i32}
  systolic.vector lookup accumulator[0] 8 x 128 of accumulator[0] {immediate = 3 : i32}
  // CHECK: systolic.sync [load, execute1] before [execute]
  systolic.sync [load, execute1] before [execute]
  // CHECK: systolic.sync [all] before [vector]
  systolic.sync [all] before [vector]
  // CHECK: systolic.loop 6 {
  // CHECK: systolic.loop 2 {
  // CHECK: systolic.compute scratchpad[5] 9 x 12, none 0 x 0 {advance = array<i64: 1, 128, 0, 0, 16, 0>}
  systolic.loop 6 {
    systolic.loop 2 {
      systolic.compute scratchpad[5] 9 x 12, none 0 x 0
        {advance = array<i64: 1, 128, 0, 0, 16, 0>}
    }
  }
  return
}

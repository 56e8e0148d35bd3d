// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   --ashlar-verify-streams=machine=tpu-128 | FileCheck %s

// The order of issue that keeps the array busy: the next block's operand is
// asked for before the syncs that the block at hand stands behind, the results
// of the block before leave behind it, and A comes once.
// CHECK-LABEL: func.func @product
// CHECK: systolic.region "product" contraction 1610612736
// CHECK: systolic.mvin 0, %arg0[0] to scratchpad[0] 512 x 128
// CHECK: systolic.mvin 1, %arg1[0] to scratchpad{{.*}} 128 x 128
// CHECK: systolic.sync [load] before [execute]
// CHECK: systolic.preload scratchpad{{.*}} into accumulator[0] 512 x 128
// CHECK: systolic.compute scratchpad[0] 512 x 128, none 0 x 0
// CHECK: systolic.preload scratchpad{{.*}} into accumulator[0] add 512 x 128
// CHECK: systolic.mvin 1, %arg1[256] to scratchpad{{.*}} 768 x 128
// CHECK-NEXT: systolic.sync [load] before [execute]
// CHECK-NEXT: systolic.mvin 1, %arg1[512] to scratchpad{{.*}} 768 x 128
// CHECK-NEXT: systolic.sync [execute] before [store]
// CHECK-NEXT: systolic.preload
// CHECK: systolic.mvout accumulator[0] 512 x 128 to %arg2[0]
// CHECK-NEXT: systolic.sync [load] before [execute]
// CHECK: systolic.mvin 1
// CHECK: systolic.sync [execute] before [store]
// CHECK-NEXT: systolic.preload
// CHECK: systolic.mvout accumulator{{.*}} 512 x 128 to %arg2[256]
// CHECK-NOT: systolic.mvin 0
// CHECK: return
func.func @product(%a: memref<512x768xbf16>, %b: memref<768x4096xbf16>,
                   %c: memref<512x4096xbf16>) {
  tile.contract a(%a : memref<512x768xbf16>) b(%b : memref<768x4096xbf16>)
    outs(%c : memref<512x4096xbf16>) attributes {
      parallel = array<i64: 512, 4096>, reduced = array<i64: 768>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// A bias is one row for all rows of a block; the relu is the mvout's.
// CHECK-LABEL: func.func @bias
// CHECK: systolic.mvin 2, %arg2[0] to accumulator{{.*}} 1 x 128
// CHECK: systolic.sync [load, execute] before [vector]
// CHECK-NEXT: systolic.config_vector one_row
// CHECK-NEXT: systolic.vector add accumulator
// CHECK: systolic.sync [vector] before [store]
// CHECK: systolic.config_store stride = 256 {relu}
// CHECK: systolic.mvout
func.func @bias(%a: memref<64x128xbf16>, %b: memref<128x128xbf16>,
                %bias: memref<128xf32>, %c: memref<64x128xbf16>) {
  tile.contract a(%a : memref<64x128xbf16>) b(%b : memref<128x128xbf16>)
    epilogue(%bias : memref<128xf32>)
    outs(%c : memref<64x128xbf16>) attributes {
      parallel = array<i64: 64, 128>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32, %0: f32):
    %zero = arith.constant 0.0 : f32
    %1 = arith.addf %sum, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %z = arith.truncf %2 : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// Long streams are loops.
// CHECK-LABEL: func.func @long
// CHECK: systolic.loop
// CHECK: advance = array<i64: 0
func.func @long(%a: memref<4096x512xbf16>, %b: memref<512x16384xbf16>,
                %c: memref<4096x16384xbf16>) {
  tile.contract a(%a : memref<4096x512xbf16>) b(%b : memref<512x16384xbf16>)
    outs(%c : memref<4096x16384xbf16>) attributes {
      parallel = array<i64: 4096, 16384>, reduced = array<i64: 512>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// An image that is read in place: the stream of A walks over its rows, taps are
// places to begin at. What lies around the result is one row of zeros.
// CHECK-LABEL: func.func @convolution
// CHECK: systolic.mvin 0, %arg0[0] to scratchpad{{.*}} x 128
// CHECK: systolic.config_stream a level = 0 count = 28 rows = 1
// CHECK-NEXT: systolic.config_stream a level = 1 count = {{.*}} rows = 30
// CHECK: systolic.config_stream mvout level = 0 count = 2 rows = 0
func.func @convolution(%a: memref<8x30x30x256xbf16>, %b: memref<3x3x256x256xbf16>,
                       %c: memref<8x30x30x256xbf16>) {
  tile.contract a(%a : memref<8x30x30x256xbf16>)
    b(%b : memref<3x3x256x256xbf16>)
    outs(%c : memref<8x30x30x256xbf16>) attributes {
      parallel = array<i64: 8, 28, 28, 256>, reduced = array<i64: 3, 3, 256>,
      maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>,
              affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>,
              affine_map<(n, h, w, o) -> (n, h + 1, w + 1, o)>],
      pad = 0.0 : bf16} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

// A part of a tensor is read where it lies: rows 64 elements apart, from the
// second row's ninth element on.
// CHECK-LABEL: func.func @part
// CHECK: systolic.mvin 0, %arg0[144] to scratchpad
func.func @part(%whole: memref<9x64xbf16>, %b: memref<16x16xbf16>, %c: memref<8x16xf32>) {
  %a = memref.subview %whole[1, 8] [8, 16] [1, 1]
    : memref<9x64xbf16> to memref<8x16xbf16, strided<[64, 1], offset: 72>>
  tile.contract a(%a : memref<8x16xbf16, strided<[64, 1], offset: 72>>) b(%b : memref<16x16xbf16>)
    outs(%c : memref<8x16xf32>) attributes {
      parallel = array<i64: 8, 16>, reduced = array<i64: 16>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  }
  return
}

// Between zero and six, in either order: the relu is the mvout's.
// CHECK-LABEL: func.func @clip
// CHECK-NOT: systolic.vector maximum
// CHECK: systolic.vector minimum_immediate
// CHECK-NOT: systolic.vector maximum
// CHECK: systolic.config_store stride = 256 {relu}
func.func @clip(%a: memref<128x128xbf16>, %b: memref<128x128xbf16>,
                %c: memref<128x128xbf16>) {
  tile.contract a(%a : memref<128x128xbf16>) b(%b : memref<128x128xbf16>)
    outs(%c : memref<128x128xbf16>) attributes {
      parallel = array<i64: 128, 128>, reduced = array<i64: 128>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %zero = arith.constant 0.0 : f32
    %six = arith.constant 6.0 : f32
    %low = arith.maximumf %sum, %zero : f32
    %clip = arith.minimumf %low, %six : f32
    %z = arith.truncf %clip : f32 to bf16
    tile.yield %z : bf16
  }
  return
}

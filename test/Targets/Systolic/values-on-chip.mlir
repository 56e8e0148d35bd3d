// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-lower-to-systolic=machine=tpu-128 \
// RUN:   --ashlar-verify-streams=machine=tpu-128 | FileCheck %s

// What lies between two contractions stays on chip: the vector unit copies it
// to the scratchpad, where the second reads it. Nobody else does, so that it is
// not stored.
// CHECK-LABEL: func.func @between
// CHECK: systolic.region "first"
// CHECK-NOT: to %arg4
// CHECK: systolic.vector maximum_immediate
// CHECK-NOT: to %arg4
// CHECK: systolic.sync [vector] before [execute]
// CHECK-NOT: {{(to|,)}} %arg4
// CHECK: systolic.region "second"
// CHECK: systolic.mvout {{.*}} to %arg3
func.func @between(%a: memref<256x512xbf16>, %b: memref<512x1024xbf16>,
                   %c: memref<1024x256xbf16>, %d: memref<256x256xbf16>,
                   %between: memref<524288xi8> {exec.inner}) {
  %zero = arith.constant 0 : index
  %middle = memref.view %between[%zero][] : memref<524288xi8> to memref<256x1024xbf16>
  tile.contract a(%a : memref<256x512xbf16>) b(%b : memref<512x1024xbf16>)
    outs(%middle : memref<256x1024xbf16>) attributes {
      parallel = array<i64: 256, 1024>, reduced = array<i64: 512>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %none = arith.constant 0.0 : f32
    %positive = arith.maximumf %sum, %none : f32
    %z = arith.truncf %positive : f32 to bf16
    tile.yield %z : bf16
  } loc("first")
  tile.contract a(%middle : memref<256x1024xbf16>) b(%c : memref<1024x256xbf16>)
    outs(%d : memref<256x256xbf16>) attributes {
      parallel = array<i64: 256, 256>, reduced = array<i64: 1024>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  } loc("second")
  return
}

// The same where the caller reads it, too: it is stored beside.
// CHECK-LABEL: func.func @result
// CHECK: systolic.vector copy
// CHECK: systolic.mvout {{.*}} to %arg4
// CHECK-NOT: systolic.mvin {{.*}}%arg4
// CHECK: systolic.mvout {{.*}} to %arg3
func.func @result(%a: memref<256x512xbf16>, %b: memref<512x1024xbf16>,
                  %c: memref<1024x256xbf16>, %d: memref<256x256xbf16>,
                  %middle: memref<256x1024xbf16>) {
  tile.contract a(%a : memref<256x512xbf16>) b(%b : memref<512x1024xbf16>)
    outs(%middle : memref<256x1024xbf16>) attributes {
      parallel = array<i64: 256, 1024>, reduced = array<i64: 512>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  } loc("first")
  tile.contract a(%middle : memref<256x1024xbf16>) b(%c : memref<1024x256xbf16>)
    outs(%d : memref<256x256xbf16>) attributes {
      parallel = array<i64: 256, 256>, reduced = array<i64: 1024>,
      maps = [affine_map<(m, n, k) -> (m, k)>,
              affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    %z = arith.truncf %sum : f32 to bf16
    tile.yield %z : bf16
  } loc("second")
  return
}

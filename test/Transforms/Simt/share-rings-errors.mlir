// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-distribute-lanes="lanes=32 groups=8 scopes=warp=32,warpgroup=128"

// What lies in a ring is brought no further.
exec.kernel @second calls @second_body : () -> memref<4x8xf32>
func.func @second_body(%c: memref<4x8xf32>) attributes {tile.threads} {
  %far = tile.alloc : <2, 4x8xf32, "local">
  // expected-note@+1 {{the ring is here}}
  %near = tile.alloc : <2, 4x8xf32, "local">
  %s, %t = tile.copy %c to %far {map = affine_map<(m, n) -> (m, n)>} : memref<4x8xf32> to <2, 4x8xf32, "local">
  tile.wait %t
  // expected-error@+1 {{expected copies from memory, of threads or of one role, and no second ring}}
  %s2, %t2 = tile.copy %s to %near {map = affine_map<(m, n) -> (m, n)>} : !tile.slot<4x8xf32, "local"> to <2, 4x8xf32, "local">
  tile.wait %t2
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to <4x4xf32>
  %sums = tile.step %none, %s2, %s2 {aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (n, k)>, reduced = array<i64: 8>, unroll = 1 : i64} : <4x4xf32>, !tile.slot<4x8xf32, "local">, !tile.slot<4x8xf32, "local">
  tile.release %s2 : <4x8xf32, "local">
  tile.release %s : <4x8xf32, "local">
  tile.drain %sums to %c : memref<4x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } : <4x4xf32>
  return
}

// -----

// Which ring it is has to be known before the loop.
exec.kernel @either calls @either_body : () -> memref<4x8xf32>
func.func @either_body(%c: memref<4x8xf32>) attributes {tile.threads} {
  %zero = arith.constant 0.0 : f32
  %one = tile.alloc : <2, 8x8xf32, "local">
  %other = tile.alloc : <2, 8x8xf32, "local">
  %s, %t = tile.copy %c to %one {map = affine_map<(m, n) -> (m, n)>, padded} : memref<4x8xf32> to <2, 8x8xf32, "local">
  %s2, %t2 = tile.copy %c to %other {map = affine_map<(m, n) -> (m, n)>, padded} : memref<4x8xf32> to <2, 8x8xf32, "local">
  tile.wait %t
  tile.wait %t2
  %yes = arith.constant true
  // expected-note@+1 {{the slot is here}}
  %either = arith.select %yes, %s, %s2 : !tile.slot<8x8xf32, "local">
  %none = tile.init %zero : f32 to <4x8xf32>
  // expected-error@+1 {{expected slots of one ring each}}
  %sums = tile.step %none, %either, %s {aMap = affine_map<(m, n, k) -> (m, k)>, bMap = affine_map<(m, n, k) -> (k, n)>, reduced = array<i64: 8>, unroll = 1 : i64} : <4x8xf32>, !tile.slot<8x8xf32, "local">, !tile.slot<8x8xf32, "local">
  tile.release %s : <8x8xf32, "local">
  tile.release %s2 : <8x8xf32, "local">
  tile.drain %sums to %c : memref<4x8xf32> attributes {maps = [affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } : <4x8xf32>
  return
}

// -----

// An engine copies of what the kernel is given.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
!sums = !tile.acc<32x8xf32, groups = [group warp [16, 8]], fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
!left = !tile.slot<32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
!right = !tile.slot<16x8xbf16, "shared">
exec.kernel @own calls @own_body : (memref<32x64xbf16>) -> memref<32x8xbf16>
func.func @own_body(%a: memref<32x64xbf16>, %c: memref<32x8xbf16>) attributes {tile.threads} {
  %b = memref.alloc() : memref<64x8xbf16>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %ra = tile.alloc : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
  %rb = tile.alloc : <2, 16x8xbf16, "shared">
  %none = tile.init %zero : f32 to !sums
  tile.role "producer" concurrent by <producer warp x 1> {
    scf.for %k = %c0 to %c64 step %c16 {
      %va = memref.subview %a[0, %k] [32, 16] [1, 1] : memref<32x64xbf16> to memref<32x16xbf16, strided<[64, 1], offset: ?>>
      %s0, %t0 = tile.copy %va to %ra {engine = "tma", map = #mn} : memref<32x16xbf16, strided<[64, 1], offset: ?>> to <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      // expected-note@+1 {{the source is here}}
      %vb = memref.subview %b[%k, 0] [16, 8] [1, 1] : memref<64x8xbf16> to memref<16x8xbf16, strided<[8, 1], offset: ?>>
      // expected-error@+1 {{expected a box of a tensor, for a role that copies: its source is no tensor that the kernel is given}}
      %s1, %t1 = tile.copy %vb to %rb {engine = "tma", map = #mn} : memref<16x8xbf16, strided<[8, 1], offset: ?>> to <2, 16x8xbf16, "shared">
    }
  }
  tile.role "consumer" concurrent by <consumer warp x 2> {
    %all = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %none) -> !sums {
      %x0 = tile.take %ra : <2, 32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      %x1 = tile.take %rb : <2, 16x8xbf16, "shared">
      %sum = tile.step %acc, %x0, %x1 {aMap = #mk, bMap = #kn, reduced = array<i64: 16>, unroll = 1 : i64} : !sums, !left, !right
      tile.release %x0 : <32x16xbf16, "shared", #tile.layout<swizzle [1, 3, 3]>>
      tile.release %x1 : <16x8xbf16, "shared">
      scf.yield %sum : !sums
    }
    tile.drain %all to %c : memref<32x8xbf16> attributes {maps = [#mn]} {
    ^bb0(%s: f32):
      %z = arith.truncf %s : f32 to bf16
      tile.yield %z : bf16
    } : !sums
  }
  return
}

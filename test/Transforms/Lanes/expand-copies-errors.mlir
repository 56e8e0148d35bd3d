// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-expand-copies

// What needs an engine, or somebody beside the worker.

#same = affine_map<(k, n) -> (k, n)>
!ring = !tile.ring<1, 8x8xf32, #tile.layout<swizzle [3, 3, 3]>>
!slot = !tile.slot<8x8xf32, #tile.layout<swizzle [3, 3, 3]>>
func.func @swizzled(%a: memref<8xf32>, %b: memref<8x8xf32>, %acc: !tile.acc<8xf32>) -> !tile.acc<8xf32> {
  %r = tile.alloc : !ring
  %s, %t = tile.copy %b to %r {map = #same} : memref<8x8xf32> to !ring // expected-note {{the slot is filled here}}
  tile.wait %t
  // expected-error@+1 {{expected slots whose elements lie row by row, read from the first on, by a worker that copies itself}}
  %1 = tile.step %acc, %a, %s {reduced = array<i64: 8>, unroll = 1,
      aMap = affine_map<(n, k) -> (k)>, bMap = affine_map<(n, k) -> (k, n)>}
    : !tile.acc<8xf32>, memref<8xf32>, !slot
  tile.release %s : !slot
  return %1 : !tile.acc<8xf32>
}

// -----

#same = affine_map<(n) -> (n)>
func.func @ahead(%b: memref<8xf32>, %i0: index, %i1: index, %i8: index) {
  %r = tile.alloc : !tile.ring<2, 8xf32>
  // expected-error@+1 {{expected to be waited for in its own iteration, by a worker that does everything itself}}
  %s, %t = tile.copy %b to %r {map = #same} : memref<8xf32> to !tile.ring<2, 8xf32>
  scf.for %i = %i0 to %i8 step %i1 iter_args(%own = %t) -> (!tile.token) { // expected-note {{waited for here}}
    tile.wait %own
    scf.yield %own : !tile.token
  }
  tile.release %s : !tile.slot<8xf32>
  return
}

// -----

#same = affine_map<(n) -> (n)>
func.func @apart(%b: memref<8xf32>) {
  %r = tile.alloc : !tile.ring<2, 8xf32> // expected-note {{the ring is here}}
  tile.role "producer" concurrent {
    %s, %t = tile.copy %b to %r {map = #same} : memref<8xf32> to !tile.ring<2, 8xf32>
  }
  tile.role "consumer" concurrent {
    // expected-error@+1 {{expected roles that follow each other, for a worker that copies itself}}
    %s = tile.take %r : !tile.ring<2, 8xf32>
    tile.release %s : !tile.slot<8xf32>
  }
  return
}

// -----

// Zeros for what is not there are an engine's to write.
#same = affine_map<(n) -> (n)>
// expected-note @below {{the source is here}}
func.func @padded(%b: memref<6xf32>) {
  %r = tile.alloc : !tile.ring<1, 8xf32>
  // expected-error @below {{expected all of the slot to lie in memory, for a worker that copies itself}}
  %s, %t = tile.copy %b to %r {map = #same, padded} : memref<6xf32> to !tile.ring<1, 8xf32>
  tile.wait %t
  tile.release %s : !tile.slot<8xf32>
  return
}

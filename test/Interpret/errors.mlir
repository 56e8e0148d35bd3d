// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics --ashlar-interpret-kernels="schedules=60"

// Each of these is right under some schedule.

// What passes through a loop is nothing that the verifier follows.
#same = affine_map<(n) -> (n)>
!slot = !tile.slot<4xf32>
// expected-remark@+1 {{'unwaited': with seed=}}
func.func @unwaited(%x: memref<4xf32>) {
  %ring = tile.alloc : !tile.ring<1, 4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s, %t = tile.copy %x to %ring {map = #same} : memref<4xf32> to !tile.ring<1, 4xf32>
  scf.for %i = %c0 to %c1 step %c1 iter_args(%own = %s) -> (!slot) {
    %m = tile.view %own : !slot to memref<4xf32>
    // expected-error@+1 {{reads what has been begun to be written and not waited for, at [1]}}
    %0 = memref.load %m[%c1] : memref<4xf32>
    scf.yield %own : !slot
  }
  tile.wait %t
  tile.release %s : !slot
  return
}

// -----

#same = affine_map<(n) -> (n)>
// expected-remark@+1 {{'overwritten': with seed=}}
func.func @overwritten(%x: memref<4xf32>) {
  %ring = tile.alloc : !tile.ring<1, 4xf32>
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s, %t = tile.copy %x to %ring {map = #same} : memref<4xf32> to !tile.ring<1, 4xf32>
  // expected-error@+1 {{writes what is still being read, and not waited for, at [2]}}
  memref.store %zero, %x[%c2] : memref<4xf32>
  tile.wait %t
  tile.release %s : !tile.slot<4xf32>
  return
}

// -----

#same = affine_map<(n) -> (n)>
// expected-remark@+1 {{'released': with seed=}}
func.func @released(%x: memref<4xf32>) {
  %ring = tile.alloc : !tile.ring<2, 4xf32>
  %c0 = arith.constant 0 : index
  %s, %t = tile.copy %x to %ring {map = #same} : memref<4xf32> to !tile.ring<2, 4xf32>
  tile.wait %t
  %m = tile.view %s : !tile.slot<4xf32> to memref<4xf32>
  %v = memref.subview %m[%c0] [4] [1] : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
  tile.release %s : !tile.slot<4xf32>
  // expected-error@+1 {{uses a slot that has been released}}
  %0 = memref.load %v[%c0] : memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

// The second step still reads b when the first is done.
#n = affine_map<(n, k) -> (k)>
#kn = affine_map<(n, k) -> (k, n)>
!acc = !tile.acc<4xf32>
// expected-remark@+1 {{'too_early': with seed=}}
func.func @too_early(%x: memref<2xf32>, %y: memref<2x4xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %ring = tile.alloc : !tile.ring<1, 2x4xf32>
  %none = tile.init %zero : f32 to !acc
  scf.for %i = %c0 to %c3 step %c1 {
    // expected-error@+1 {{takes a slot that is still being read, since its release does not wait for all readers}}
    %s, %t = tile.copy %y to %ring {map = affine_map<(k, n) -> (k, n)>} : memref<2x4xf32> to !tile.ring<1, 2x4xf32>
    tile.wait %t
    %1, %u1 = tile.step %none, %x, %s {aMap = #n, bMap = #kn, reduced = array<i64: 2>, unroll = 1}
      : !acc, memref<2xf32>, !tile.slot<2x4xf32> -> !tile.token
    %2, %u2 = tile.step %1, %x, %s {aMap = #n, bMap = #kn, reduced = array<i64: 2>, unroll = 1}
      : !acc, memref<2xf32>, !tile.slot<2x4xf32> -> !tile.token
    tile.release %s after %u1 : !tile.slot<2x4xf32>
  }
  return
}

// -----

#n = affine_map<(n, k) -> (k)>
#kn = affine_map<(n, k) -> (k, n)>
!acc = !tile.acc<4xf32>
// expected-remark@+1 {{'unfinished': with seed=}}
func.func @unfinished(%x: memref<2xf32>, %y: memref<2x4xf32>, %z: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tile.init %zero : f32 to !acc
  %1, %u = tile.step %none, %x, %y {aMap = #n, bMap = #kn, reduced = array<i64: 2>, unroll = 1}
    : !acc, memref<2xf32>, memref<2x4xf32> -> !tile.token
  // expected-error@+1 {{uses sums of a step that has not been waited for}}
  tile.drain %1 to %z : memref<4xf32> attributes {maps = [affine_map<(n) -> (n)>]} {
  ^bb0(%s: f32):
    tile.yield %s : f32
  } : !acc
  return
}

// -----

// Rings are filled in one order and taken from in another.
#same = affine_map<(n) -> (n)>
// expected-error@+2 {{'crossed': all roles wait for each other}}
// expected-remark@+1 {{'crossed': with seed=}}
func.func @crossed(%x: memref<4xf32>) {
  %p = tile.alloc : !tile.ring<1, 4xf32>
  %q = tile.alloc : !tile.ring<1, 4xf32>
  tile.role "producer" concurrent {
    %0, %t0 = tile.copy %x to %p {map = #same} : memref<4xf32> to !tile.ring<1, 4xf32>
    // expected-note@+1 {{'producer' waits here}}
    %1, %t1 = tile.copy %x to %p {map = #same} : memref<4xf32> to !tile.ring<1, 4xf32>
    %2, %t2 = tile.copy %x to %q {map = #same} : memref<4xf32> to !tile.ring<1, 4xf32>
  }
  tile.role "consumer" concurrent {
    // expected-note@+1 {{'consumer' waits here}}
    %0 = tile.take %q : !tile.ring<1, 4xf32>
    tile.release %0 : !tile.slot<4xf32>
    %1 = tile.take %p : !tile.ring<1, 4xf32>
    tile.release %1 : !tile.slot<4xf32>
    %2 = tile.take %p : !tile.ring<1, 4xf32>
    tile.release %2 : !tile.slot<4xf32>
  }
  return
}

// -----

// expected-remark@+1 {{'outside': with seed=}}
func.func @outside(%x: memref<4x4xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{reaches [1, 4], outside of its memory}}
  %0 = memref.load %x[%c1, %c4] : memref<4x4xf32>
  return
}

// -----

// Which worker comes last is nobody's choice.
// expected-error@+1 {{expected what the first schedule gives, found}}
func.func @racing(%y: memref<1xf32>, %x: memref<8xf32>) {
  scf.forall (%i) in (8) {
    %c0 = arith.constant 0 : index
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %y[%c0] : memref<1xf32>
  }
  return
}

// -----

func.func private @other(%x: memref<8xf32>) // expected-note {{the reference is here}}
// expected-error@+1 {{expected a reference that can be run, with the same arguments, found @other}}
func.func @unlike(%x: memref<4xf32>) attributes {reference = @other} {
  return
}

// -----

// expected-remark@+1 {{'unknown' is left out: holds 'vector.load', which is nothing that can be interpreted}}
func.func @unknown(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// expected-remark@+1 {{'open' is left out: expected arguments of memrefs of numbers, at most 67108864, whose sizes and strides are known}}
func.func @open(%x: memref<?xf32>) {
  return
}

// -----

// Whoever takes the slot next would have its bytes written over.
#same = affine_map<(d) -> (d)>
// expected-remark@+1 {{'not_filled': with seed=}}
func.func @not_filled(%x: memref<4xf32>) {
  %r = tile.alloc : !tile.ring<1, 4xf32>
  %s, %t = tile.copy %x to %r {map = #same} : memref<4xf32> to !tile.ring<1, 4xf32>
  // expected-error@+1 {{gives back a slot whose copy has not been waited for}}
  tile.release %s : !tile.slot<4xf32>
  tile.wait %t
  return
}

// -----

#same = affine_map<(d) -> (d)>
// expected-remark@+1 {{'never_taken': with seed=}}
func.func @never_taken(%x: memref<4xf32>) {
  %r = tile.alloc : !tile.ring<2, 4xf32>
  tile.role "producer" concurrent {
    %s0, %t0 = tile.copy %x to %r {map = #same} : memref<4xf32> to !tile.ring<2, 4xf32>
    // expected-error@+1 {{is waited for by nobody until the end}}
    %s1, %t1 = tile.copy %x to %r {map = #same} : memref<4xf32> to !tile.ring<2, 4xf32>
  }
  tile.role "consumer" concurrent {
    %s = tile.take %r : !tile.ring<2, 4xf32>
    tile.release %s : !tile.slot<4xf32>
  }
  return
}

// -----

// expected-remark@+1 {{'too_large': with seed=}}
func.func @too_large(%x: memref<4xf32>) {
  %n = arith.constant -1 : index
  // expected-error@+1 {{expected at most 67108864 elements, of sizes of 0 or more}}
  %m = memref.alloc(%n) : memref<?xf32>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-error@+1 {{'tile.map' op expected a map for each operand, 1 in all, found 2}}
  %y = tile.map %x maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>] : !tile.acc<4x8xf32> -> !tile.acc<4x8xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

// An accumulator has all its elements: no map leads out of it.
// expected-note @below {{the operand is here}}
func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-error@+1 {{expected dims of the result, no longer than the operand's, or 0 in the map of operand 0, found affine_map<(d0, d1) -> (d1, d0)> into '!tile.acc<4x8xf32>'}}
  %y = tile.map %x maps [affine_map<(m, n) -> (n, m)>] : !tile.acc<4x8xf32> -> !tile.acc<4x8xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

// expected-note @below {{the operand is here}}
func.func @f(%x: memref<4x8xf32>) {
  // expected-error@+1 {{expected 2 results in the map of operand 0, one per dim of 'memref<4x8xf32>'}}
  %y = tile.map %x maps [affine_map<(m, n) -> (n)>] : memref<4x8xf32> -> !tile.acc<4x8xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: memref<4x8xf32>) {
  // expected-error@+1 {{expected a body over 'f32', found 'f16'}}
  %y = tile.map %x maps [affine_map<(m, n) -> (m, n)>] : memref<4x8xf32> -> !tile.acc<4x8xf16> {
  ^bb0(%a: f16):
    tile.yield %a : f16
  }
  return
}

// -----

func.func @f(%x: memref<4x8xf32>) {
  // expected-error@+1 {{expected the body to yield 'f16', an element of the result}}
  %y = tile.map %x maps [affine_map<(m, n) -> (m, n)>] : memref<4x8xf32> -> !tile.acc<4x8xf16> {
  ^bb0(%a: f32):
    tile.yield %a : f32 // expected-note {{the body ends here}}
  }
  return
}

// -----

func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-note @below {{of this op}}
  %y = tile.map %x maps [affine_map<(m, n) -> (m, n)>] : !tile.acc<4x8xf32> -> !tile.acc<4x8xi32> {
  ^bb0(%a: f32):
    // expected-error@+1 {{'tile.index' op expected a dim below 2, found 2}}
    %i = tile.index 2
    %n = arith.index_cast %i : index to i32
    tile.yield %n : i32
  }
  return
}

// -----

func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected at least one dim}}
  %y = tile.reduce %x over [] : !tile.acc<4x8xf32> -> !tile.acc<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-error@+1 {{expected different dims below 2, found 1}}
  %y = tile.reduce %x over [1, 1] : !tile.acc<4x8xf32> -> !tile.acc<4x1xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-error@+1 {{expected a result as the operand is, with a size of 1 along the dims, found '!tile.acc<4x8xf32>' of '!tile.acc<4x8xf32>'}}
  %y = tile.reduce %x over [0] : !tile.acc<4x8xf32> -> !tile.acc<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-error@+1 {{expected a body over 'f32', 'f32', found 'f32'}}
  %y = tile.reduce %x over [1] : !tile.acc<4x8xf32> -> !tile.acc<4x1xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

// expected-note @below {{the operand is here}}
func.func @f(%x: !tile.acc<4x8xf32>) {
  // expected-error @below {{expected the map of operand 0 over 2 dims, with 2 results, found affine_map<(d0, d1) -> (d0)>}}
  %y = tile.map %x maps [affine_map<(m, n) -> (m)>] : !tile.acc<4x8xf32> -> !tile.acc<4x8xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

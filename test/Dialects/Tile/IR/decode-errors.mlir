// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xi8>) {
  // expected-error@+1 {{'tile.decode' op expected a map for each input, 1 in all, found 0}}
  %y = tile.decode %x maps [] : tensor<4x8xi8> -> tensor<4x8xf16> {
  ^bb0(%a: i8, %i: index, %j: index):
    %z = arith.sitofp %a : i8 to f16
    tile.decoded %z : f16
  }
  return
}

// -----

// expected-note @below {{the operand is here}}
func.func @f(%x: tensor<4x8xi8>) {
  // expected-error@+1 {{expected 2 results in the map of input 0, one per dim of 'tensor<4x8xi8>'}}
  %y = tile.decode %x maps [affine_map<(m, n) -> (n)>] : tensor<4x8xi8> -> tensor<4x8xf16> {
  ^bb0(%a: i8, %i: index, %j: index):
    %z = arith.sitofp %a : i8 to f16
    tile.decoded %z : f16
  }
  return
}

// -----

func.func @f(%x: tensor<4x8xi8>) {
  // expected-error@+1 {{expected the body to make 'f16', an element of the result}}
  %y = tile.decode %x maps [affine_map<(m, n) -> (m, n)>] : tensor<4x8xi8> -> tensor<4x8xf16> {
  ^bb0(%a: i8, %i: index, %j: index):
    tile.decoded %a : i8 // expected-note {{the body ends here}}
  }
  return
}

// -----

func.func @f(%x: tensor<?x8xi8>) {
  // expected-error@+1 {{expected a result of known sizes, found 'tensor<?x8xf16>'}}
  %y = tile.decode %x maps [affine_map<(m, n) -> (m, n)>] : tensor<?x8xi8> -> tensor<?x8xf16> {
  ^bb0(%a: i8, %i: index, %j: index):
    %z = arith.sitofp %a : i8 to f16
    tile.decoded %z : f16
  }
  return
}

// -----

func.func @f(%x: tensor<4x8xi8>) {
  // expected-error@+1 {{expected a body over an element of each input and a place along each dim of the result, found 'i8'}}
  %y = tile.decode %x maps [affine_map<(m, n) -> (m, n)>] : tensor<4x8xi8> -> tensor<4x8xf16> {
  ^bb0(%a: i8):
    %z = arith.sitofp %a : i8 to f16
    tile.decoded %z : f16
  }
  return
}

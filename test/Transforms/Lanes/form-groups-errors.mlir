// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-groups --split-input-file --verify-diagnostics

// Scratch is planned at compile time, so that its size must be known then.
exec.kernel @unbounded calls @unbounded_body : (memref<8xf32>) -> memref<i64>
func.func private @unbounded_body(%x: memref<8xf32>, %size: memref<i64>) {
  %zero = arith.constant 0.0 : f32
  %v = memref.load %size[] : memref<i64>
  %n = arith.index_cast %v : i64 to index
  // expected-error@+1 {{needs memory of a size that is not known at compile time}}
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  return
}

// -----

// Groups are formed once, of a body that is there and nobody else's.
// expected-error@+1 {{'exec.kernel' op expected a function of its own as its body, without groups so far, found}}
exec.kernel @declared calls @declared_body : (memref<4xf32>) -> memref<4xf32>
// expected-note @below {{the function is here}}
func.func private @declared_body(memref<4xf32>, memref<4xf32>)

// -----

exec.kernel @one calls @shared_body : (memref<4xf32>) -> memref<4xf32>
// expected-error@+1 {{'exec.kernel' op expected a function of its own as its body, without groups so far, found}}
exec.kernel @two calls @shared_body : (memref<4xf32>) -> memref<4xf32>
// expected-note @below {{the function is here}}
func.func private @shared_body(%x: memref<4xf32>, %y: memref<4xf32>) {
  return
}

// -----

// expected-error@+1 {{'exec.kernel' op expected a function of its own as its body, without groups so far, found}}
exec.kernel @grouped calls @grouped_body : (memref<4xf32>) -> memref<4xf32> grid [#exec.size<1>]
// expected-note @below {{the function is here}}
func.func private @grouped_body(%x: memref<4xf32>, %y: memref<4xf32>) {
  return
}

// -----

// expected-error@+1 {{'exec.kernel' op expected a function of its own as its body, without groups so far, found}}
exec.kernel @memory calls @global : (memref<4xf32>) -> memref<4xf32>
memref.global @global : memref<4xf32>

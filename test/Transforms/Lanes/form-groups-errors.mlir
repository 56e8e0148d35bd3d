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

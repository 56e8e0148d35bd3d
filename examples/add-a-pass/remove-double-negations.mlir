// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: ashlar-opt %s --ashlar-remove-double-negations | FileCheck %s

// What is negated twice is what it was.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: return %[[X]]
func.func @twice(%x: f32) -> f32 {
  %a = arith.negf %x : f32
  %b = arith.negf %a : f32
  return %b : f32
}

// One negation is left alone.
// CHECK-LABEL: func.func @once
// CHECK-NEXT: arith.negf
func.func @once(%x: f32) -> f32 {
  %a = arith.negf %x : f32
  return %a : f32
}

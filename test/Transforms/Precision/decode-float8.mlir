// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-decode-float8 | FileCheck %s --check-prefixes=CHECK,BYTES
// RUN: ashlar-opt %s --ashlar-decode-float8=everywhere | FileCheck %s --check-prefixes=CHECK,ALL --implicit-check-not=arith.extf

// Exponent and mantissa move, what is subnormal is counted, and NaN is one code
// of both signs.
// CHECK-LABEL: func.func @byte
// CHECK-SAME: %[[X:.*]]: i8
// CHECK-NOT: f8E4M3FN
// CHECK: %[[CODE:.*]] = arith.extui %[[X]] : i8 to i32
// CHECK: arith.andi %[[CODE]]
// CHECK: arith.uitofp
// CHECK: arith.cmpi eq
// CHECK: return %{{.*}} : f32
func.func @byte(%x: i8) -> f32 {
  %0 = arith.bitcast %x : i8 to f8E4M3FN
  %1 = arith.extf %0 : f8E4M3FN to f32
  return %1 : f32
}

// All fit into 16 bits; vectors are decoded as they are.
// CHECK-LABEL: func.func @vectors
// CHECK: arith.extui %{{.*}} : vector<4xi8> to vector<4xi32>
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
func.func @vectors(%x: vector<4xi8>) -> vector<4xbf16> {
  %0 = arith.bitcast %x : vector<4xi8> to vector<4xf8E5M2FNUZ>
  %1 = arith.extf %0 : vector<4xf8E5M2FNUZ> to vector<4xbf16>
  return %1 : vector<4xbf16>
}

// What was no byte stays for who has a unit for it.
// CHECK-LABEL: func.func @number
// CHECK-SAME: %[[X:.*]]: f8E5M2
// BYTES: arith.extf %[[X]] : f8E5M2 to f32
// ALL: arith.bitcast %[[X]] : f8E5M2 to i8
func.func @number(%x: f8E5M2) -> f32 {
  %1 = arith.extf %x : f8E5M2 to f32
  return %1 : f32
}

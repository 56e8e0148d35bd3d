// RUN: ashlar-opt --ashlar-approximate-math %s | FileCheck %s
// RUN: ashlar-opt --ashlar-approximate-math=library=false %s | FileCheck %s --check-prefix=ALONE
// RUN: ashlar-opt --ashlar-approximate-math=fma=false %s | FileCheck %s --check-prefix=TWICE
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A vector stays one: no call, no lane taken out. Without fused multiply-add
// there is none, for it would be a call.
// CHECK-LABEL: func @vector
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : vector<2x16xf32>
// CHECK-NOT: math.exp
// CHECK: return {{.*}} : vector<2x16xf32>
// TWICE-LABEL: func @vector
// TWICE-NOT: math.
// TWICE: return
func.func @vector(%x: vector<2x16xf32>) -> vector<2x16xf32> {
  %y = math.exp %x : vector<2x16xf32>
  return %y : vector<2x16xf32>
}

// Scalars, such as those of a loop's remainder, are computed alike.
// CHECK-LABEL: func @scalar
// CHECK-NOT: math.erf
// CHECK: math.copysign {{.*}} : f32
func.func @scalar(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}

// A half is computed in f32 and rounded once.
// CHECK-LABEL: func @half
// CHECK-SAME: %[[X:.*]]: vector<8xbf16>
// CHECK: arith.extf %[[X]] : vector<8xbf16> to vector<8xf32>
// CHECK-NOT: math.log
// CHECK: %[[Y:.*]] = arith.truncf {{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @half(%x: vector<8xbf16>) -> vector<8xbf16> {
  %y = math.log %x : vector<8xbf16>
  return %y : vector<8xbf16>
}

// All that have an approximation, one of another's result.
// CHECK-LABEL: func @all
// CHECK-NOT: math.{{exp|log|tanh|erf}}
// CHECK: return
func.func @all(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.exp2 %0 : f32
  %2 = math.expm1 %1 : f32
  %3 = math.log %2 : f32
  %4 = math.log1p %3 : f32
  %5 = math.tanh %4 : f32
  %6 = math.erf %5 : f32
  return %6 : f32
}

// f64 and functions without an approximation are left to libm.
// CHECK-LABEL: func @others
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.sin %{{.*}} : f32
func.func @others(%x: f64, %y: f32) -> (f64, f32) {
  %0 = math.exp %x : f64
  %1 = math.sin %y : f32
  return %0, %1 : f64, f32
}

// Without a C library, those of f32 and halves are computed in f64 and rounded
// once to f32. They stay what they are with one.
// CHECK-LABEL: func @powers
// CHECK: math.powf
// ALONE-LABEL: func @powers
// ALONE-SAME: %[[X:[a-z0-9]+]]: vector<8xf16>,
// ALONE: %[[S:.*]] = arith.extf %[[X]] : vector<8xf16> to vector<8xf32>
// ALONE: arith.extf %[[S]] : vector<8xf32> to vector<8xf64>
// ALONE-NOT: math.powf
// ALONE: %[[R:.*]] = arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
// ALONE: %[[Y:.*]] = arith.truncf %[[R]] : vector<8xf32> to vector<8xf16>
// ALONE-NEXT: return %[[Y]]
func.func @powers(%x: vector<8xf16>, %y: vector<8xf16>) -> vector<8xf16> {
  %z = math.powf %x, %y : vector<8xf16>
  return %z : vector<8xf16>
}

// All that are computed so.
// ALONE-LABEL: func @without_library
// ALONE-NOT: {{math.(sin|cos|tan|asin|acos|atan|log|exp)|arith.remf}}
// ALONE: return
func.func @without_library(%x: f32, %y: f64) -> (f32, f64) {
  %0 = math.sin %x : f32
  %1 = math.cos %0 : f32
  %2 = math.tan %1 : f32
  %3 = math.asin %2 : f32
  %4 = math.acos %3 : f32
  %5 = math.atan %4 : f32
  %6 = math.atan2 %5, %x : f32
  %7 = math.sinh %6 : f32
  %8 = math.cosh %7 : f32
  %9 = math.asinh %8 : f32
  %10 = math.acosh %9 : f32
  %11 = math.atanh %10 : f32
  %12 = math.log2 %11 : f32
  %13 = math.log10 %12 : f32
  %14 = arith.remf %13, %x : f32
  %15 = math.exp %y : f64
  %16 = math.log %15 : f64
  return %14, %16 : f32, f64
}

// Others of f64 have no polynomial.
// ALONE-LABEL: func @left
// ALONE: math.sin
// ALONE: arith.remf
func.func @left(%x: f64) -> f64 {
  %0 = math.sin %x : f64
  %1 = arith.remf %0, %x : f64
  return %1 : f64
}

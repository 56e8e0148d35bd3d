// RUN: ashlar-opt --ashlar-approximate-math %s | FileCheck %s
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

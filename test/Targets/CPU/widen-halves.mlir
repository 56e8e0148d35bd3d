// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-cpu-widen-halves | FileCheck %s
// RUN: ashlar-opt %s --ashlar-cpu-widen-halves=converts-f16=false | FileCheck %s --check-prefix=BITS

// CHECK-LABEL: func.func @sum
// CHECK: %[[X:.*]] = arith.extf %arg0 : vector<8xf16> to vector<8xf32>
// CHECK: %[[Y:.*]] = arith.extf %arg1 : vector<8xf16> to vector<8xf32>
// CHECK: %[[Z:.*]] = arith.addf %[[X]], %[[Y]] : vector<8xf32>
// CHECK: arith.truncf %[[Z]] : vector<8xf32> to vector<8xf16>
// BITS-LABEL: func.func @sum
// BITS-NOT: arith.extf
// BITS: arith.addf {{.*}} : vector<8xf32>
// BITS-NOT: arith.truncf
func.func @sum(%x: vector<8xf16>, %y: vector<8xf16>) -> vector<8xf16> {
  %0 = arith.addf %x, %y : vector<8xf16>
  return %0 : vector<8xf16>
}

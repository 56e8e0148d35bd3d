// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-cpu-lower-dots=features=avx512vnni,avx512vl | FileCheck %s --check-prefix=VNNI
// RUN: ashlar-opt %s --ashlar-cpu-lower-dots | FileCheck %s --check-prefix=NONE

// Four bytes and four bytes a lane: one instruction where there is one for these
// signs, else products of single terms.
// VNNI-LABEL: func.func @bytes
// VNNI: vpdpbusd
// VNNI-NOT: arith.muli
// NONE-LABEL: func.func @bytes
// NONE-NOT: vpdpbusd
// NONE: arith.muli
// NONE: arith.addi
func.func @bytes(%sums: vector<16xi32>, %a: vector<64xi8>, %b: vector<64xi8>) -> vector<16xi32> {
  %0 = tile.dot %sums, %a, %b {aUnsigned} : vector<16xi32>, vector<64xi8>
  return %0 : vector<16xi32>
}

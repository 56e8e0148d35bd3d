// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s --until=import | FileCheck %s --check-prefix=IMPORT
// RUN: ashlar-compile %s --until=simplify | FileCheck %s --check-prefix=IMPORT
// RUN: ashlar-compile %s --until=place | FileCheck %s --check-prefix=PLACE
// RUN: ashlar-compile %s --until=precision | FileCheck %s --check-prefix=PLACE
// RUN: ashlar-compile %s --until=fuse | FileCheck %s --check-prefix=FUSE
// RUN: ashlar-compile %s --until=tile | FileCheck %s --check-prefix=TILE
// RUN: ashlar-compile %s --until=schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: ashlar-compile %s --until=emit | FileCheck %s --check-prefix=SCHEDULE
// RUN: ashlar-compile %s --until=place --target=cpu:x86-64-v3,reference | FileCheck %s --check-prefix=TWO
// RUN: ashlar-compile %s --until=fuse --until-locations | FileCheck %s --check-prefix=LOCATIONS
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s --until=schedule -o %t/none.ash > %t/out
// RUN: not ls %t/none.ash

// Compilation stops after the stage, prints its IR and writes no module.
// IMPORT: module attributes {ashlar.nodes = ["linalg.add@48:8"]} {
// IMPORT-NEXT: func.func @main
// IMPORT: linalg.add

// Locations take more room than the IR; who wants them asks for them.
// IMPORT-NOT: loc(
// LOCATIONS: exec.dispatch
// LOCATIONS: } loc("linalg.add@

// PLACE: module @program_0 attributes {{.*}}exec.target = #exec.target<"cpu", "host">}
// PLACE-NEXT: func.func @main
// PLACE: linalg.add

// FUSE: exec.dispatch
// FUSE: arith.addf
// FUSE-NOT: loc(

// TILE: exec.invoke @k0
// TILE: exec.kernel @k0
// TILE-SAME: grid

// SCHEDULE-NOT: func.func @main
// SCHEDULE: exec.program @main
// SCHEDULE: exec.launch @k0
// SCHEDULE-NOT: loc(

// Every target asked for, in the order in which it was asked for.
// TWO: module @program_0 {{.*}}exec.target = #exec.target<"cpu", "x86-64-v3">}
// TWO: module @program_1 {{.*}}exec.target = #exec.target<"reference",
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

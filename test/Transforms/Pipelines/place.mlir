// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-place-pipeline | FileCheck %s
// RUN: ashlar-opt %s --ashlar-place-pipeline=target=cpu:x86-64-v3,systolic:gemmini | FileCheck %s --check-prefix=TWO
// RUN: sh -c 'ashlar-opt %s --ashlar-place-pipeline=target=tpu 2>%t; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t
// RUN: sh -c 'ashlar-opt %s --ashlar-place-pipeline=target=cpu:pentium 2>%t; test $? -eq 2' && FileCheck %s --check-prefix=PRESET < %t

// RUN: ashlar-opt %s --ashlar-place-pipeline=target=cpu+systolic:gemmini | FileCheck %s --check-prefix=ASKED --implicit-check-not=stands_in
// All functions are in the program of a target.
// CHECK: module @program_0 attributes {exec.target = #exec.target<"cpu", "host">}
// CHECK-NEXT: func.func @main

// Targets are those of ashlar-compile, with a host beside a device, where it
// stands in if nobody asked for it.
// TWO: module @program_0 attributes {exec.target = #exec.target<"cpu", "x86-64-v3">}
// TWO: module @program_1 attributes {exec.companions = [#exec.target<"systolic", "gemmini">], exec.stands_in, exec.target = #exec.target<"cpu", "host">}

// ASKED: module @program_0 attributes {exec.companions = [#exec.target<"systolic", "gemmini">], exec.target = #exec.target<"cpu", "host">}
// TARGET: 'tpu' is not a target; this compiler has cpu cuda level-zero opencl reference systolic
// PRESET: 'pentium' is not a preset of cpu; it has host
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

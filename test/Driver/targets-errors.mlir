// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: sh -c 'ashlar-compile %s --until=import --target=tpu >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu:pentium >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=PRESET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu,tpu >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu,cpu:host >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TWICE < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu+systolic:gemmini+systolic:gemmini >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=DEVICE < %t/out
// RUN: sh -c 'ashlar-check %t --target=tpu >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t/out

// A name that is wrong whatever the model says is wrong usage; the message
// names what there is to choose from.
// TARGET: error: --target: 'tpu' is not a target; this compiler has cpu cuda level-zero opencl reference
// PRESET: error: --target: 'pentium' is not a preset of cpu; it has host aarch64 riscv64 sapphirerapids x86-64 x86-64-v3 x86-64-v4 znver3 znver4
// DEVICE: error: --target: systolic:gemmini is named twice in one program; expected each device once
// TWICE: error: --target: cpu:host is asked for twice
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not ashlar-compile %s --until=import --target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not ashlar-compile %s --until=import --target=cpu:pentium 2>&1 | FileCheck %s --check-prefix=PRESET
// RUN: not ashlar-compile %s --until=import --target=cpu,tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: sh -c 'ashlar-compile %s --until=import --target=tpu 2>/dev/null; test $? -eq 1'

// The message names what there is to choose from.
// TARGET: error: --target: 'tpu' is not a target; this compiler has cpu reference
// PRESET: error: --target: 'pentium' is not a preset of cpu; it has host aarch64 sapphirerapids x86-64 x86-64-v3 x86-64-v4 znver3 znver4
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

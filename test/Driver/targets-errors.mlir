// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: sh -c 'ashlar-compile %s --until=import --target=tpu >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu:pentium >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=PRESET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu,tpu >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu,cpu:host >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TWICE < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu+systolic:gemmini+systolic:gemmini >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=DEVICE < %t/out
// RUN: sh -c 'ashlar-check %t --target=tpu >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cuda: >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=EMPTY < %t/out
// RUN: sh -c 'ashlar-compile %s --until=import --target=cpu+cuda: >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=EMPTY < %t/out
// RUN: sh -c 'for t in $(ashlar-compile --list-targets | cut -d: -f1 | sort -u); do ashlar-compile %s --until=import --target=$t: 2>&1; test $? -eq 2 || exit; done' | FileCheck %s --check-prefix=EACH
// RUN: sh -c 'ashlar-compile %s --until=import --assembler=/usr/bin/ptxas >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=ASSEMBLER < %t/out
// RUN: ashlar-compile %s -o %t/y.ash --assembler=none
// RUN: sh -c 'ashlar-compile %s --until=import --line-tables --target=cpu,reference >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=LINES < %t/out
// RUN: ashlar-compile %s -o %t/y.ash --line-tables --target=cpu+cuda --quiet

// A name that is wrong whatever the model says is wrong usage; the message
// names what there is to choose from.
// TARGET: error: --target: 'tpu' is not a target; this compiler has cpu cuda level-zero opencl reference
// PRESET: error: --target: 'pentium' is not a preset of cpu; it has host aarch64 riscv64 sapphirerapids x86-64 x86-64-v3 x86-64-v4 znver3 znver4
// DEVICE: error: --target: systolic:gemmini is named twice in one program; expected each device once
// A preset of no letters is not the default.
// EMPTY: error: --target: expected a preset behind 'cuda:', found none; it has sm_80 sm_90a sm_100a
// EACH: expected a preset behind 'cpu:', found none; it has host
// EACH: behind 'cuda:'
// EACH: behind 'level-zero:'
// EACH: behind 'opencl:'
// EACH: behind 'reference:', found none; it has generic
// EACH: behind 'rocm:'
// EACH: behind 'systolic:'
// What no target would look at is not passed over.
// ASSEMBLER: error: --assembler: '/usr/bin/ptxas': expected a target that asks it for machine code (cuda: ptxas, level-zero: Intel's ocloc, by that name), found none in cpu:host
// LINES: error: --line-tables: expected a target whose code has them (cuda), found none in cpu:host, reference:generic
// TWICE: error: --target: cpu:host is asked for twice
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

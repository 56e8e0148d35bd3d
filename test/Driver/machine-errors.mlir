// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// DEFINE: %{break} = %python %S/Inputs/break_machine.py %S/../../lib/Targets/CPU/Machines/x86-64-v3.json %t.json
// DEFINE: %{refuse} = not ashlar-compile %s --until=tile --machine=%t.json

// A machine file is refused by the field that is at fault, with exit code 1.
// RUN: %{break} vectors.bytes=-
// RUN: %{refuse} 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: --machine: '{{.*}}.json': vectors.bytes: is missing; expected a number
// RUN: sh -c 'ashlar-compile %s --until=tile --machine=%t.json 2>/dev/null; test $? -eq 1'

// RUN: %{break} 'memories[1].bytes=8192'
// RUN: %{refuse} 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: memories[1].bytes: expected at least those of 'l1', which is nearer, 32768, found 8192

// What fits together, but not with this target.
// RUN: %{break} vectors.bytes=64
// RUN: %{refuse} 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: --machine: '{{.*}}.json': vectors.bytes: expected at most 32 with these code.features, found 64

// RUN: %{break} target=\"tpu\"
// RUN: %{refuse} 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: target: expected one that --target names without a preset, found 'tpu'

// A preset and a file for the same program contradict each other.
// RUN: %{break} name=\"mine\"
// RUN: %{refuse} --target=cpu:x86-64-v3 2>&1 | FileCheck %s --check-prefix=PRESET
// PRESET: target: expected one that --target names without a preset, found 'cpu'

// RUN: %{break} target=\"reference\"
// RUN: %{refuse} --target=reference 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: the target reference reads no machine model; leave --machine out

// RUN: echo '{"name": }' > %t.json
// RUN: %{refuse} 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: '{{.*}}.json': not JSON: [1:{{.*}}
// RUN: rm %t.json
// RUN: %{refuse} 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: '{{.*}}.json': cannot be read: No such file or directory
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: onnx
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s -o %t/v3.ash --target=cpu:x86-64-v3
// RUN: ashlar-inspect %t/v3.ash --machine | FileCheck %s --check-prefix=SHOWN

// A module says what machine its code was made for, to the last figure.
// SHOWN: machine of cpu:x86-64-v3
// SHOWN-NEXT: sha256 {{[0-9a-f]+}}
// SHOWN-NEXT: {
// SHOWN-NEXT: "name": "x86-64-v3",
// SHOWN: "vectors": {
// SHOWN-NEXT: "count": 16,
// SHOWN-NEXT: "bytes": 32,
// SHOWN: "name": "l1",
// SHOWN-NEXT: "bytes": 32768,

// What it shows is a machine file; the code for it is the same.
// RUN: ashlar-inspect %t/v3.ash --json > %t/v3.json
// RUN: %python -c "import json, sys; m = json.load(open(sys.argv[1])); json.dump(m['programs'][0]['machine']['model'], open(sys.argv[2], 'w'))" %t/v3.json %t/machine.json
// RUN: ashlar-compile %s --until=tile --target=cpu:x86-64-v3 > %t/preset.mlir
// RUN: ashlar-compile %s --until=tile --machine=%t/machine.json > %t/file.mlir
// RUN: cmp %t/preset.mlir %t/file.mlir

// Another figure makes other code; a target with a preset keeps the preset.
// RUN: %python -c "import json, sys; m = json.load(open(sys.argv[1])); m['name'] = 'narrow'; m['vectors']['bytes'] = 16; m['units'][0]['n'] = 4; m['units'][1]['n'] = 2; m['units'][2]['n'] = 4; json.dump(m, open(sys.argv[2], 'w'))" %t/machine.json %t/narrow.json
// RUN: ashlar-compile %s --until=tile --target=cpu,cpu:x86-64-v3 --machine=%t/narrow.json | FileCheck %s --check-prefix=TWO
// TWO: exec.target = #exec.target<"cpu", "narrow">
// TWO: vector<4xf32>
// TWO: exec.target = #exec.target<"cpu", "x86-64-v3">
// TWO: vector<8xf32>

// The host's model is part of the module, too, and the same every time.
// RUN: ashlar-compile %s -o %t/a.ash && ashlar-compile %s -o %t/b.ash
// RUN: cmp %t/a.ash %t/b.ash
// RUN: ashlar-inspect %t/a.ash --machine | FileCheck %s --check-prefix=HOST
// HOST: machine of cpu:host
// HOST: "name": "host"
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %e = tensor.empty() : tensor<4096xf32>
  %y = linalg.add ins(%x, %x : tensor<4096xf32>, tensor<4096xf32>)
                  outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}

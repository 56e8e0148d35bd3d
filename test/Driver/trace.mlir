// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: ashlar-compile %s -o y.ash --trace=trace.json --target=cpu:x86-64-v3,reference
// RUN: FileCheck %s < trace.json
// RUN: %python -m json.tool trace.json > /dev/null

// What ends first is written first: programs within stages within the compile.
// CHECK: {"displayTimeUnit":"ms","traceEvents":[
// CHECK-NEXT: {"name":"process_name","ph":"M",{{.*}}"args":{"name":"ashlar-compile"}}
// CHECK-NEXT: {"name":"import","ph":"X","pid":{{[0-9]+}},"tid":{{[0-9]+}},"ts":{{[0-9]+\.[0-9]+}},"dur":{{[0-9]+\.[0-9]+}},"args":{}}
// CHECK-NEXT: {"name":"simplify"
// CHECK-NEXT: {"name":"place"
// CHECK-NEXT: {"name":"cpu:x86-64-v3"
// CHECK-NEXT: {"name":"reference:generic"
// CHECK-NEXT: {"name":"precision"
// CHECK: {"name":"fuse"
// CHECK: {"name":"tile"
// CHECK: {"name":"schedule"
// CHECK-NEXT: {"name":"cpu:x86-64-v3"
// CHECK-NEXT: {"name":"reference:generic"
// CHECK-NEXT: {"name":"write"
// CHECK-NEXT: {"name":"emit"
// CHECK-NEXT: {"name":"compile"
// CHECK-NEXT: ]}

// To the standard output, and of a compile that fails.
// RUN: ashlar-compile %s -o y.ash --trace=- | FileCheck %s --check-prefix=OUT
// OUT: "name":"compile"
// RUN: not ashlar-compile absent.onnx -o z.ash --trace=failed.json
// RUN: FileCheck %s --check-prefix=FAILED < failed.json
// FAILED: {"name":"import"
// FAILED-NEXT: {"name":"compile"
// FAILED-NEXT: ]}

// RUN: not ashlar-compile %s -o y.ash --trace=no/folder.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: --trace: cannot write 'no/folder.json': No such file or directory
// RUN: not ashlar-compile %s -o y.ash --trace=y.ash 2>&1 | FileCheck %s --check-prefix=MODULE
// MODULE: error: --trace=y.ash is the module itself; give the trace another name
// RUN: ashlar-inspect y.ash
// RUN: cp %s model.mlir && not ashlar-compile model.mlir -o z.ash --trace=model.mlir 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: --trace=model.mlir is the model itself; give the trace another name
// RUN: cmp %s model.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

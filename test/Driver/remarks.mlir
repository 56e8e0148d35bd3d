// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile %s -o %t/y.ash --target=cpu:x86-64-v3 --remarks=- | FileCheck %s
// RUN: ashlar-compile %s -o %t/y.ash --target=cpu:x86-64-v3 --remarks=%t/y.yml
// RUN: FileCheck %s --check-prefix=YAML < %t/y.yml
// RUN: ashlar-compile %s -o %t/y.ash > %t/out && test ! -s %t/out
// RUN: ashlar-compile %s --until=import --remarks=%t/import.txt > %t/out && test -f %t/import.txt
// RUN: not ashlar-compile %s -o %t/none.ash --verbose --remarks=%t/absent/r 2>&1 | FileCheck %s --check-prefix=ABSENT

// A bad name is found before the work.
// ABSENT-NOT: import
// ABSENT: error: --remarks: cannot write '{{.*}}absent/r': No such file or directory
// ABSENT-NOT: import

// Ops of a model in MLIR are named by their kind and place.
// CHECK: remarks of main for cpu:x86-64-v3
// CHECK: 'linalg.generic@{{[0-9:]+}}': passed: fusion: 'linalg.generic@{{[0-9:]+}}' became part of it, saving 32768 bytes
// CHECK-NOT: fusion
// CHECK: 'tensor.pad@{{[0-9:]+}}': missed: padding: is a copy of 7056 bytes: what it pads is not a contraction's result
// CHECK-NOT: fusion

// YAML: DebugLoc:{{ +}}{ File: '{{.*}}remarks.mlir',
// YAML: Line: {{[0-9]+}},
#same = affine_map<(d0) -> (d0)>
module {
  func.func @main(%p: tensor<40x40xf32>, %x: tensor<4096xf32>)
      -> (tensor<42x42xf32>, tensor<4096xf32>) {
    %c = arith.constant 0.0 : f32
    %q = tensor.pad %p low[1, 1] high[1, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %c : f32
    } : tensor<40x40xf32> to tensor<42x42xf32>
    %e = tensor.empty() : tensor<4096xf32>
    %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
        ins(%x : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
    ^bb0(%a: f32, %out: f32):
      %v = math.exp %a : f32
      linalg.yield %v : f32
    } -> tensor<4096xf32>
    %z = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
        ins(%y : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
    ^bb0(%a: f32, %out: f32):
      %v = math.tanh %a : f32
      linalg.yield %v : f32
    } -> tensor<4096xf32>
    return %q, %z : tensor<42x42xf32>, tensor<4096xf32>
  }
}

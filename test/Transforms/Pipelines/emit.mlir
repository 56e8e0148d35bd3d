// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-opt %s --ashlar-emit-pipeline=output=%t/m.ash > %t/out
// RUN: ashlar-inspect %t/m.ash | FileCheck %s
// RUN: ashlar-opt %S/Inputs/product.mlir --ashlar-import-pipeline --ashlar-simplify-pipeline --ashlar-place-pipeline --ashlar-precision-pipeline --ashlar-fuse-pipeline --ashlar-tile-pipeline --ashlar-schedule-pipeline --ashlar-emit-pipeline=output=%t/opt.ash > %t/out
// RUN: ashlar-compile %S/Inputs/product.mlir -o %t/compile.ash
// RUN: ashlar-run %t/compile.ash --input=arg0=random:1 --input=arg1=random:2 --output=out0=%t/y.npy
// RUN: ashlar-run %t/opt.ash --input=arg0=random:1 --input=arg1=random:2 --expect=out0=%t/y.npy --rtol=0 --atol=0
// RUN: sed "s/ scratch 0//" %s | not ashlar-opt --ashlar-emit-pipeline 2>&1 | FileCheck %s --check-prefix=SCRATCH
// RUN: not ashlar-opt %S/Inputs/product.mlir --ashlar-emit-pipeline 2>&1 | FileCheck %s --check-prefix=PROGRAMS
// RUN: sed -e 's/weights = \[\]/weights = [dense_resource<w> : tensor<4xf32>]/' %s | not ashlar-opt --ashlar-emit-pipeline=output=%t/w.ash 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not ashlar-opt %S/Inputs/named-weights.mlir --ashlar-simplify-pipeline 2>&1 | FileCheck %s --check-prefix=WEIGHTS

// A program by hand becomes a module.
// CHECK: made by ashlar
// CHECK: entry main
// CHECK: in x f32 4
// CHECK: program cpu:x86-64-v3

// What the stages before would have said is said here.
// SCRATCH: expected scratch of kernel 'double', found none
// PROGRAMS: cannot be emitted: expected a module of programs, which the stage place makes, found none
// Printed IR has no bytes of large weights.
// WEIGHTS: the weights 'w': expected 16 bytes, found 0; what --until prints names large weights alone
module {
  module @program_0 attributes {exec.target = #exec.target<"cpu", "x86-64-v3">} {
    exec.kernel @double calls @double_body : (memref<4xf32>) -> memref<4xf32>
        grid [#exec.size<1>] scratch 0
    func.func private @double_body(%x: memref<4xf32>, %y: memref<4xf32>, %scratch: memref<0xi8>, %begin: index, %end: index) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %four = arith.constant 4 : index
      scf.for %i = %zero to %four step %one {
        %a = memref.load %x[%i] : memref<4xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %y[%i] : memref<4xf32>
      }
      return
    }
    exec.program @main attributes {arena_bytes = 0 : i64, arena_lower_bound_bytes = 0 : i64,
        inputs = [{ashlar.name = "x", ashlar.type = "float", tensor = tensor<4xf32>}],
        outputs = [{ashlar.name = "y", ashlar.type = "float", tensor = tensor<4xf32>}], weights = []} {
      exec.launch @double [#exec.binding<input 0, offset = <0>, length = <16>, written = false>, #exec.binding<output 0, offset = <0>, length = <16>, written = true>]
    }
  }
}

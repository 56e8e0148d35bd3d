// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && split-file %s %t
// RUN: ashlar-opt %t/import.mlir --ashlar-verify-stage=stage=import
// RUN: ashlar-opt %t/simplify.mlir --ashlar-verify-stage=stage=simplify
// RUN: ashlar-opt %t/place.mlir --ashlar-verify-stage=stage=place
// RUN: ashlar-opt %t/place.mlir --ashlar-verify-stage=stage=precision
// RUN: ashlar-opt %t/fuse.mlir --ashlar-verify-stage=stage=fuse
// RUN: ashlar-opt %t/tile.mlir --ashlar-verify-stage=stage=tile
// RUN: ashlar-opt %t/schedule.mlir --ashlar-verify-stage=stage=schedule
// RUN: not ashlar-opt %t/place.mlir --ashlar-verify-stage=stage=emit 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: ashlar-opt %t/import.mlir --ashlar-verify-stage=stage=import | FileCheck %s

// Checking changes nothing.
// CHECK: func.func @main
// CHECK-NEXT: arith.constant dense<1.000000e+00>
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: arith.constant
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.add
// CHECK-NEXT: return

// Each pipeline but the targets' own has a check.
// UNKNOWN: error: 'emit' is no stage that can be verified; expected import, simplify, place, precision, fuse, tile or schedule

// A splat of any size stays an attribute. The body of a named op is upstream's
// and needs no name; a name within a fused location will do.
//--- import.mlir
func.func @main(%x: tensor<400xf32> {ashlar.name = "x", ashlar.type = "float"})
    -> (tensor<400xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  %c = arith.constant dense<1.0> : tensor<400xf32> loc("one")
  %e = tensor.empty() : tensor<400xf32> loc("Add_0")
  %z = arith.constant 0.0 : f32 loc("Add_0")
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<400xf32>) -> tensor<400xf32> loc("Add_0")
  %y = linalg.add ins(%x, %c : tensor<400xf32>, tensor<400xf32>)
                  outs(%f : tensor<400xf32>) -> tensor<400xf32> loc(fused["Add_0", unknown])
  return %y : tensor<400xf32> loc("main")
} loc("main")

// Constants that were merged have no name of their own, and hand-written IR has
// positions in its file.
//--- simplify.mlir
func.func @main(%x: tensor<4xf32> {ashlar.name = "x", ashlar.type = "float"})
    -> (tensor<4xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  %c = arith.constant dense<1.0> : tensor<4xf32> loc(unknown)
  %y = linalg.add ins(%x, %c : tensor<4xf32>, tensor<4xf32>)
                  outs(%c : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- place.mlir
module @program_0 attributes {exec.target = #exec.target<"cpu", "host">} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
module @program_1 attributes {exec.target = #exec.target<"reference", "generic">} {
  func.func @main(%x: tensor<4xi1>) -> tensor<4xi1> {
    return %x : tensor<4xi1>
  }
}

// Views cost nothing and stay outside.
//--- fuse.mlir
func.func @main(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %v = tensor.collapse_shape %x [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %y = exec.dispatch(%v, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    exec.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

//--- tile.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exec.invoke @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
exec.kernel @k0 calls @k0_body : (memref<4xf32>) -> memref<4xf32>
    grid [#exec.size<1>] scratch 64 {aliases = array<i64: 0>}
func.func private @k0_body(%x: memref<4xf32>, %y: memref<4xf32>, %scratch: memref<64xi8>,
                      %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %small = memref.alloca() : memref<4xf32>
  %v = memref.load %x[%c0] : memref<4xf32>
  memref.store %v, %y[%c0] : memref<4xf32>
  return
}

// A view reads a part of what was written; a place is used again once its value
// is dead; a kernel overwrites an operand that it may; commands without a
// barrier between them touch different bytes; a formula counts as its
// largest value.
//--- schedule.mlir
exec.kernel @unary : (memref<32xf32>) -> memref<32xf32>
exec.kernel @half : (memref<16xf32>) -> memref<32xf32>
exec.kernel @inPlace : (memref<32xf32>) -> memref<32xf32> {aliases = array<i64: 0>}
exec.program @main attributes {
    arena_bytes = 256 : i64, arena_lower_bound_bytes = 256 : i64,
    inputs = [{tensor = tensor<32xf32>}],
    outputs = [{tensor = tensor<32xf32>}, {tensor = tensor<32xf32>}, {tensor = tensor<0xf32>}],
    weights = []} {
  exec.launch @unary [#exec.binding<input 0, offset = <0>, length = <128>, written = false>,
                      #exec.binding<arena 0, offset = <0>, length = <128>, written = true>]
  exec.launch @unary [#exec.binding<input 0, offset = <0>, length = <128>, written = false>,
                      #exec.binding<output 0, offset = <0>, length = <128>, written = true>]
  exec.barrier
  exec.launch @half [#exec.binding<arena 0, offset = <64>, length = <64>, written = false>,
                     #exec.binding<arena 0, offset = <128>, length = <128>, written = true>]
  exec.barrier
  exec.launch @inPlace [#exec.binding<arena 0, offset = <128>, length = <128>, written = false>,
                        #exec.binding<arena 0, offset = <128>, length = <128>, written = true>]
  exec.launch @half [#exec.binding<input 0, offset = <64>, length = <64>, written = false>,
                     #exec.binding<arena 0, offset = <0>, length = <128>, written = true>]
  exec.barrier
  exec.copy <arena 0, offset = <128>, length = <128>, written = false>
         to <output 1, offset = <0>, length = <128>, written = true>
}
exec.program @dynamic attributes {
    arena_bytes = 64 : i64, arena_lower_bound_bytes = 64 : i64,
    inputs = [{tensor = tensor<4xf32>}], outputs = [{tensor = tensor<4xf32>}], weights = []} {
  exec.copy <input 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 16>, written = false>
         to <arena 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 16>, written = true, buffer = 0>
  exec.barrier
  exec.copy <arena 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 16>, written = false, buffer = 0>
         to <output 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 16>, written = true>
}

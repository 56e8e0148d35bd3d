// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-schedule-pipeline | FileCheck %s

// Each device has an arena of its own; a transfer is a copy between them, and
// one that the caller takes out goes straight into its memory.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: arena_bytes = 256 : i64, arena_lower_bound_bytes = 256 : i64
// CHECK-SAME: companion_arenas = array<i64: 512, 512>
// CHECK: exec.launch @host [#exec.binding<input 0, {{.*}}, #exec.binding<arena 0, offset = <0>, length = <256>, written = true>]
// CHECK: exec.copy <arena 0, offset = <0>, length = <256>, written = false> to <arena 1, offset = <[[IN:[0-9]+]]>, length = <256>, written = true>
// CHECK: exec.launch @remote [#exec.binding<arena 1, offset = <[[IN]]>, {{.*}}, #exec.binding<weights 0, {{.*}}, #exec.binding<arena 1, offset = <[[OUT:[0-9]+]]>, length = <256>, written = true>]
// CHECK: exec.copy <arena 1, offset = <[[OUT]]>, length = <256>, written = false> to <output 0, offset = <0>, length = <256>, written = true>
module attributes {exec.target = #exec.target<"cpu", "host">,
                   exec.companions = [#exec.target<"systolic", "tpu-128">]} {
  exec.kernel @host : (memref<64xf32>) -> memref<64xf32>
  exec.kernel @remote : (memref<64xf32>, memref<64xf32>) -> memref<64xf32> device 1
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %w = arith.constant dense<2.0> : tensor<64xf32>
    %a = exec.invoke @host(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %b = exec.transfer %a to 1 : tensor<64xf32>
    %c = exec.invoke @remote(%b, %w) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %d = exec.transfer %c to 0 : tensor<64xf32>
    return %d : tensor<64xf32>
  }
}

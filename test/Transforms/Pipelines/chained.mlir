// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-import-pipeline --ashlar-simplify-pipeline --ashlar-place-pipeline | FileCheck %s --check-prefix=PLACE
// RUN: ashlar-opt %s --pass-pipeline='builtin.module(ashlar-import-pipeline,ashlar-simplify-pipeline,ashlar-place-pipeline,builtin.module(ashlar-precision-pipeline,ashlar-fuse-pipeline))' | FileCheck %s --check-prefix=FUSE
// RUN: ashlar-opt %s --pass-pipeline='builtin.module(ashlar-import-pipeline,ashlar-simplify-pipeline,ashlar-place-pipeline,builtin.module(ashlar-precision-pipeline,ashlar-fuse-pipeline,ashlar-tile-pipeline))' | FileCheck %s --check-prefix=TILE
// RUN: ashlar-opt %s --pass-pipeline='builtin.module(ashlar-import-pipeline,ashlar-simplify-pipeline,ashlar-place-pipeline,builtin.module(ashlar-precision-pipeline,ashlar-fuse-pipeline,ashlar-tile-pipeline,ashlar-schedule-pipeline))' > %t
// RUN: FileCheck %s --check-prefix=SCHEDULE < %t
// RUN: ashlar-opt %s --pass-pipeline='builtin.module(ashlar-import-pipeline,ashlar-simplify-pipeline,ashlar-place-pipeline,builtin.module(ashlar-precision-pipeline,ashlar-fuse-pipeline,ashlar-tile-pipeline,ashlar-schedule-pipeline))' | diff - %t

// The stages follow each other as the driver runs them, those from precision on
// within each program. Twice the same input is twice the same output.

// One module per target, here the one of cpu:host.
// PLACE: module @program_0 attributes {{{.*}}exec.target = #exec.target<"cpu", "host">}
// PLACE-NEXT: func.func @main

// A matmul, its bias and its activation are one kernel.
// FUSE: module @program_0
// FUSE: func.func @main
// FUSE-COUNT-1: exec.dispatch
// FUSE: tile.contract
// FUSE: arith.addf
// FUSE: arith.maximumf
// FUSE-NOT: exec.dispatch

// TILE: exec.invoke @k0_Relu_1
// TILE: exec.kernel @k0_Relu_1 calls @k0_Relu_1_body
// TILE-SAME: grid [#exec.size<1>]
// TILE-SAME: nodes = ["Gemm_0", "Relu_1"]
// TILE: func.func private @k0_Relu_1_body
// TILE-NOT: linalg.
// TILE: vector.maskedstore

// SCHEDULE: exec.program @main
// SCHEDULE-SAME: arena_bytes = 0 : i64
// SCHEDULE-SAME: inputs = [{ashlar.name = "x", ashlar.type = "float", tensor = tensor<4x2xf32>}]
// SCHEDULE-SAME: weights = [
// SCHEDULE: exec.launch @k0_Relu_1
// SCHEDULE-NOT: exec.launch
#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<4x2xf32> {ashlar.name = "x", ashlar.type = "float"})
    -> (tensor<4x3xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> loc("w")
  %bias = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> loc("b")
  %zero = arith.constant 0.0 : f32 loc("Gemm_0")
  %e = tensor.empty() : tensor<4x3xf32> loc("Gemm_0")
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32> loc("Gemm_0")
  %m = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>)
                     outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32> loc("Gemm_0")
  %a = linalg.generic {indexing_maps = [#same, #row, #same],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m, %bias : tensor<4x3xf32>, tensor<3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32 loc("Gemm_0")
    linalg.yield %s : f32 loc("Gemm_0")
  } -> tensor<4x3xf32> loc("Gemm_0")
  %r = linalg.generic {indexing_maps = [#same, #same],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.maximumf %u, %zero : f32 loc("Relu_1")
    linalg.yield %s : f32 loc("Relu_1")
  } -> tensor<4x3xf32> loc("Relu_1")
  return %r : tensor<4x3xf32> loc("main")
} loc("main")

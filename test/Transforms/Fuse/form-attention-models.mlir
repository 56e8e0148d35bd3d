// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-fuse-elementwise --cse --ashlar-form-contracts --ashlar-form-attention="score-bytes=16384 shared=1" | FileCheck %s

// Scores that a model of 16 bits rounds are rounded still: by the product and by
// the scale; exponentials and sums of them are f32, and weights are rounded.
// CHECK-LABEL: func.func @scores_of_16_bits
// CHECK-NOT: linalg.generic
// CHECK: tile.attention
// CHECK: score {
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.mulf
// CHECK: %[[S:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: tile.yield %[[S]] : f32
// CHECK: hide {
// CHECK-NEXT: ^bb0(%[[H:.*]]: f32):
// CHECK-NEXT: tile.yield %[[H]] : f32
// CHECK: weigh {
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @scores_of_16_bits(%arg0: tensor<1x2x256x64xbf16>, %arg1: tensor<1x2x256x64xbf16>, %arg2: tensor<1x2x256x64xbf16>) -> (tensor<1x2x256x64xbf16>) {
  %cst = arith.constant 0xFF800000 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %cst_1 = arith.constant dense<1.250000e-01> : tensor<bf16>
  %0 = tensor.empty() : tensor<1x2x64x256xbf16>
  %transposed = linalg.transpose ins(%arg1 : tensor<1x2x256x64xbf16>) outs(%0 : tensor<1x2x64x256xbf16>) permutation = [0, 1, 3, 2] 
  %1 = tensor.empty() : tensor<1x2x256x256xf32>
  %2 = linalg.fill ins(%cst_0 : f32) outs(%1 : tensor<1x2x256x256xf32>) -> tensor<1x2x256x256xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %transposed : tensor<1x2x256x64xbf16>, tensor<1x2x64x256xbf16>) outs(%2 : tensor<1x2x256x256xf32>) {
  ^bb0(%in: bf16, %in_2: bf16, %out: f32):
    %19 = arith.extf %in : bf16 to f32
    %20 = arith.extf %in_2 : bf16 to f32
    %21 = arith.mulf %19, %20 : f32
    %22 = arith.addf %out, %21 : f32
    linalg.yield %22 : f32
  } -> tensor<1x2x256x256xf32>
  %4 = tensor.empty() : tensor<1x2x256x256xbf16>
  %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<1x2x256x256xf32>) outs(%4 : tensor<1x2x256x256xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %19 = arith.truncf %in : f32 to bf16
    linalg.yield %19 : bf16
  } -> tensor<1x2x256x256xbf16>
  %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %cst_1 : tensor<1x2x256x256xbf16>, tensor<bf16>) outs(%4 : tensor<1x2x256x256xbf16>) {
  ^bb0(%in: bf16, %in_2: bf16, %out: bf16):
    %19 = arith.mulf %in, %in_2 : bf16
    linalg.yield %19 : bf16
  } -> tensor<1x2x256x256xbf16>
  %7 = tensor.empty() : tensor<1x2x256xf32>
  %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<1x2x256xf32>) -> tensor<1x2x256xf32>
  %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%6 : tensor<1x2x256x256xbf16>) outs(%8 : tensor<1x2x256xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %19 = arith.extf %in : bf16 to f32
    %20 = arith.maximumf %19, %out : f32
    linalg.yield %20 : f32
  } -> tensor<1x2x256xf32>
  %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %9 : tensor<1x2x256x256xbf16>, tensor<1x2x256xf32>) outs(%1 : tensor<1x2x256x256xf32>) {
  ^bb0(%in: bf16, %in_2: f32, %out: f32):
    %19 = arith.extf %in : bf16 to f32
    %20 = arith.subf %19, %in_2 : f32
    %21 = math.exp %20 : f32
    linalg.yield %21 : f32
  } -> tensor<1x2x256x256xf32>
  %11 = linalg.fill ins(%cst_0 : f32) outs(%7 : tensor<1x2x256xf32>) -> tensor<1x2x256xf32>
  %12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%10 : tensor<1x2x256x256xf32>) outs(%11 : tensor<1x2x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %19 = arith.addf %out, %in : f32
    linalg.yield %19 : f32
  } -> tensor<1x2x256xf32>
  %13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %12 : tensor<1x2x256x256xf32>, tensor<1x2x256xf32>) outs(%4 : tensor<1x2x256x256xbf16>) {
  ^bb0(%in: f32, %in_2: f32, %out: bf16):
    %19 = arith.divf %in, %in_2 : f32
    %20 = arith.truncf %19 : f32 to bf16
    linalg.yield %20 : bf16
  } -> tensor<1x2x256x256xbf16>
  %14 = tensor.empty() : tensor<1x2x256x64xf32>
  %15 = linalg.fill ins(%cst_0 : f32) outs(%14 : tensor<1x2x256x64xf32>) -> tensor<1x2x256x64xf32>
  %16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%13, %arg2 : tensor<1x2x256x256xbf16>, tensor<1x2x256x64xbf16>) outs(%15 : tensor<1x2x256x64xf32>) {
  ^bb0(%in: bf16, %in_2: bf16, %out: f32):
    %19 = arith.extf %in : bf16 to f32
    %20 = arith.extf %in_2 : bf16 to f32
    %21 = arith.mulf %19, %20 : f32
    %22 = arith.addf %out, %21 : f32
    linalg.yield %22 : f32
  } -> tensor<1x2x256x64xf32>
  %17 = tensor.empty() : tensor<1x2x256x64xbf16>
  %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<1x2x256x64xf32>) outs(%17 : tensor<1x2x256x64xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %19 = arith.truncf %in : f32 to bf16
    linalg.yield %19 : bf16
  } -> tensor<1x2x256x64xbf16>
  return %18 : tensor<1x2x256x64xbf16>
}

// What is weighed are the scores themselves: they have a reader behind the
// softmax, and stay.
// CHECK-LABEL: func.func @scores_are_values
// CHECK-NOT: tile.attention
// CHECK: return
func.func @scores_are_values(%arg0: tensor<2x128x16xf32>) -> (tensor<2x128x128xf32>) {
  %cst = arith.constant 0xFF800000 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<2x16x128xf32>
  %transposed = linalg.transpose ins(%arg0 : tensor<2x128x16xf32>) outs(%0 : tensor<2x16x128xf32>) permutation = [0, 2, 1] 
  %1 = tensor.empty() : tensor<2x128x128xf32>
  %2 = linalg.fill ins(%cst_0 : f32) outs(%1 : tensor<2x128x128xf32>) -> tensor<2x128x128xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %transposed : tensor<2x128x16xf32>, tensor<2x16x128xf32>) outs(%2 : tensor<2x128x128xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    %13 = arith.addf %out, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<2x128x128xf32>
  %4 = tensor.empty() : tensor<2x128xf32>
  %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<2x128xf32>) -> tensor<2x128xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3 : tensor<2x128x128xf32>) outs(%5 : tensor<2x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %12 = arith.maximumf %in, %out : f32
    linalg.yield %12 : f32
  } -> tensor<2x128xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %6 : tensor<2x128x128xf32>, tensor<2x128xf32>) outs(%1 : tensor<2x128x128xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.subf %in, %in_1 : f32
    %13 = math.exp %12 : f32
    linalg.yield %13 : f32
  } -> tensor<2x128x128xf32>
  %8 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<2x128xf32>) -> tensor<2x128xf32>
  %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<2x128x128xf32>) outs(%8 : tensor<2x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %12 = arith.addf %out, %in : f32
    linalg.yield %12 : f32
  } -> tensor<2x128xf32>
  %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %9 : tensor<2x128x128xf32>, tensor<2x128xf32>) outs(%1 : tensor<2x128x128xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.divf %in, %in_1 : f32
    linalg.yield %12 : f32
  } -> tensor<2x128x128xf32>
  %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%10, %3 : tensor<2x128x128xf32>, tensor<2x128x128xf32>) outs(%2 : tensor<2x128x128xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    %13 = arith.addf %out, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<2x128x128xf32>
  return %11 : tensor<2x128x128xf32>
}

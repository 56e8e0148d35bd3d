// RUN: ashlar-opt --ashlar-fold-channel-scales --split-input-file %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#image = affine_map<(n, o, p, k) -> (n, k, p)>
#weight = affine_map<(n, o, p, k) -> (o, k)>
#result = affine_map<(n, o, p, k) -> (n, o, p)>
#all = affine_map<(n, o, p) -> (n, o, p)>
#channel = affine_map<(n, o, p) -> (o)>

// Each channel is a row of the weights; the product is gone, the shift stays.
// CHECK-LABEL: func @scale
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: linalg.generic
// CHECK-NOT: arith.mulf
// CHECK: arith.addf
func.func @scale(%x: tensor<1x2x5xf32>) -> tensor<1x2x5xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %scale = arith.constant dense<[10.0, 100.0]> : tensor<2xf32>
  %shift = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %y = linalg.generic {indexing_maps = [#image, #weight, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x2x5xf32>, tensor<2x2xf32>) outs(%init : tensor<1x2x5xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x2x5xf32>
  %z = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %scale, %shift : tensor<1x2x5xf32>, tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<1x2x5xf32>) {
  ^bb0(%a: f32, %f: f32, %s: f32, %out: f32):
    %product = arith.mulf %a, %f : f32
    %sum = arith.addf %product, %s : f32
    linalg.yield %sum : f32
  } -> tensor<1x2x5xf32>
  return %z : tensor<1x2x5xf32>
}

// -----

#image = affine_map<(n, o, p, k) -> (n, k, p)>
#weight = affine_map<(n, o, p, k) -> (o, k)>
#result = affine_map<(n, o, p, k) -> (n, o, p)>
#all = affine_map<(n, o, p) -> (n, o, p)>
#channel = affine_map<(n, o, p) -> (o)>

// Weights that are one value everywhere would grow.
// CHECK-LABEL: func @splat
// CHECK: arith.mulf
// CHECK: arith.mulf
func.func @splat(%x: tensor<1x2x5xf32>) -> tensor<1x2x5xf32> {
  %w = arith.constant dense<1.0> : tensor<2x2xf32>
  %scale = arith.constant dense<[10.0, 100.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %y = linalg.generic {indexing_maps = [#image, #weight, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x2x5xf32>, tensor<2x2xf32>) outs(%init : tensor<1x2x5xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x2x5xf32>
  %z = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %scale : tensor<1x2x5xf32>, tensor<2xf32>) outs(%empty : tensor<1x2x5xf32>) {
  ^bb0(%a: f32, %f: f32, %out: f32):
    %product = arith.mulf %a, %f : f32
    linalg.yield %product : f32
  } -> tensor<1x2x5xf32>
  return %z : tensor<1x2x5xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-assign-layouts --split-input-file | FileCheck %s

// Convolutions with constant weights work channels last: what they read is
// brought into that order once, the elementwise op and the second convolution
// follow, and the model's order comes back where the function ends.
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d5, d2 + d6, d4)>
// CHECK-DAG: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = linalg.generic {indexing_maps = [#[[IN]], #[[SAME]]]{{.*}} ins(%arg0 {{.*}} outs({{.*}} : tensor<1x10x10x3xf32>)
// CHECK: %[[Y:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[WEIGHT]], {{.*}} ins(%[[X]], %{{.*}} : tensor<1x10x10x3xf32>, tensor<4x3x3x3xf32>) outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[SAME]], #[[SAME]]]{{.*}} ins(%[[Y]] : tensor<1x8x8x4xf32>)
// CHECK: arith.maximumf
// CHECK: %[[Z:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[WEIGHT]], {{.*}} ins(%[[R]], %{{.*}} outs({{.*}} : tensor<1x6x6x8xf32>)
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#[[OUT]], #[[SAME]]]{{.*}} ins(%[[Z]] : tensor<1x6x6x8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[T]] : tensor<1x8x6x6xf32>
#nchw = affine_map<(n, o, h, w, c, r, s) -> (n, c, h + r, w + s)>
#oihw = affine_map<(n, o, h, w, c, r, s) -> (o, c, r, s)>
#out = affine_map<(n, o, h, w, c, r, s) -> (n, o, h, w)>
#id = affine_map<(n, o, h, w) -> (n, o, h, w)>
func.func @chain(%x: tensor<1x3x10x10xf32>) -> tensor<1x8x6x6xf32> {
  %w1 = arith.constant dense<2.0> : tensor<4x3x3x3xf32>
  %w2 = arith.constant dense<3.0> : tensor<8x4x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<1x4x8x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y1 = linalg.generic {indexing_maps = [#nchw, #oihw, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w1 : tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) outs(%f1 : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y1 : tensor<1x4x8x8xf32>) outs(%e1 : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = arith.maximumf %u, %zero : f32
    linalg.yield %v : f32
  } -> tensor<1x4x8x8xf32>
  %e2 = tensor.empty() : tensor<1x8x6x6xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %y2 = linalg.generic {indexing_maps = [#nchw, #oihw, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%r, %w2 : tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) outs(%f2 : tensor<1x8x6x6xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x6x6xf32>
  return %y2 : tensor<1x8x6x6xf32>
}

// -----

// A pooling window and a sum over two dims stay in the order of
// what they read.
// CHECK-DAG: #[[POOLED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
// CHECK-LABEL: func.func @pool
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[POOLED]], {{.*}} ins(%[[Y]], {{.*}} : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs({{.*}} : tensor<1x4x4x4xf32>)
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} ins(%[[M]] : tensor<1x4x4x4xf32>) outs({{.*}} : tensor<1x4xf32>)
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return {{.*}} : tensor<1x4xf32>
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %low = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<2x2xf32>
  %e1 = tensor.empty() : tensor<1x4x4x4xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %m = linalg.generic {indexing_maps = [
          affine_map<(n, c, h, w, r, s) -> (n, c, h * 2 + r, w * 2 + s)>,
          affine_map<(n, c, h, w, r, s) -> (r, s)>,
          affine_map<(n, c, h, w, r, s) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%y, %window : tensor<1x4x8x8xf32>, tensor<2x2xf32>) outs(%f1 : tensor<1x4x4x4xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %t = arith.maximumf %s, %u : f32
    linalg.yield %t : f32
  } -> tensor<1x4x4x4xf32>
  %e2 = tensor.empty() : tensor<1x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x4xf32>) -> tensor<1x4xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(n, c, h, w) -> (n, c)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%m : tensor<1x4x4x4xf32>) outs(%f2 : tensor<1x4xf32>) {
  ^bb0(%u: f32, %s: f32):
    %t = arith.addf %s, %u : f32
    linalg.yield %t : f32
  } -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}

// -----

// Padding moves with what it pads.
// CHECK-LABEL: func.func @pad
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[P:.*]] = tensor.pad %[[Y]] low[0, 1, 3, 0] high[0, 2, 4, 0]
// CHECK: tensor<1x8x8x4xf32> to tensor<1x11x15x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<1x11x15x4xf32>) outs({{.*}} : tensor<1x4x11x15xf32>)
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @pad(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x11x15xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %p = tensor.pad %y low[0, 0, 1, 3] high[0, 0, 2, 4] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x4x8x8xf32> to tensor<1x4x11x15xf32>
  return %p : tensor<1x4x11x15xf32>
}

// -----

// Slices and concatenations name the same dims at their new places. What was in
// the model's order is brought into that of the larger part.
// CHECK-LABEL: func.func @slice_and_concat
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[Y]][0, 1, 0, 2] [1, 7, 8, 2] [1, 1, 1, 1] : tensor<1x8x8x4xf32> to tensor<1x7x8x2xf32>
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x1x7x8xf32>) outs({{.*}} : tensor<1x7x8x1xf32>)
// CHECK: tensor.concat dim(3) %[[S]], %[[X]] : (tensor<1x7x8x2xf32>, tensor<1x7x8x1xf32>) -> tensor<1x7x8x3xf32>
// CHECK: outs({{.*}} : tensor<1x3x7x8xf32>)
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @slice_and_concat(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x7x8xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %s = tensor.extract_slice %y[0, 2, 1, 0] [1, 2, 7, 8] [1, 1, 1, 1] : tensor<1x4x8x8xf32> to tensor<1x2x7x8xf32>
  %q = tensor.extract_slice %x[0, 0, 1, 0] [1, 1, 7, 8] [1, 1, 1, 1] : tensor<1x3x8x8xf32> to tensor<1x1x7x8xf32>
  %c = tensor.concat dim(1) %s, %q : (tensor<1x2x7x8xf32>, tensor<1x1x7x8xf32>) -> tensor<1x3x7x8xf32>
  return %c : tensor<1x3x7x8xf32>
}

// -----

// A dim that is expanded becomes its parts at its own place.
// CHECK-LABEL: func.func @expand
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[Y]] {{\[}}[0], [1], [2], [3, 4]] output_shape [1, 8, 8, 2, 2]
// CHECK: linalg.generic {{.*}} ins(%[[E]] : tensor<1x8x8x2x2xf32>) outs({{.*}} : tensor<1x2x2x8x8xf32>)
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @expand(%x: tensor<1x3x8x8xf32>) -> tensor<1x2x2x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %r = tensor.expand_shape %y [[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 8, 8]
    : tensor<1x4x8x8xf32> into tensor<1x2x2x8x8xf32>
  return %r : tensor<1x2x2x8x8xf32>
}

// -----

// Dims that still lie side by side are collapsed where they are.
// CHECK-LABEL: func.func @collapse
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0], [1, 2], [3]] : tensor<1x8x8x4xf32> into tensor<1x64x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<1x64x4xf32>) outs({{.*}} : tensor<1x4x64xf32>)
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @collapse(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %r = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<1x4x8x8xf32> into tensor<1x4x64xf32>
  return %r : tensor<1x4x64xf32>
}

// -----

// Those that do not are brought back first: a flattened image has the model's
// order.
// CHECK-LABEL: func.func @flatten
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<1x8x8x4xf32>) outs({{.*}} : tensor<1x4x8x8xf32>)
// CHECK: %[[F:.*]] = tensor.collapse_shape %[[T]] {{\[}}[0], [1, 2, 3]] : tensor<1x4x8x8xf32> into tensor<1x256xf32>
// CHECK: return %[[F]]
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @flatten(%x: tensor<1x3x8x8xf32>) -> tensor<1x256xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %r = tensor.collapse_shape %y [[0], [1, 2, 3]] : tensor<1x4x8x8xf32> into tensor<1x256xf32>
  return %r : tensor<1x256xf32>
}

// -----

// A value that several need in the model's order is brought back once.
// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<1x8x8x4xf32>) outs({{.*}} : tensor<1x4x8x8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[T]], %[[T]]
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @twice(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  return %y, %y : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// -----

// An op that reads indices of its own stays in the model's order.
// CHECK-LABEL: func.func @indices
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x8x8x4xf32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<1x8x8x4xf32>) outs({{.*}} : tensor<1x4x8x8xf32>)
// CHECK: %[[I:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<1x4x8x8xf32>)
// CHECK: linalg.index 1
// CHECK: return %[[I]]
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @indices(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xi64> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  %e1 = tensor.empty() : tensor<1x4x8x8xi64>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x4x8x8xf32>) outs(%e1 : tensor<1x4x8x8xi64>) {
  ^bb0(%u: f32, %o: i64):
    %i = linalg.index 1 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<1x4x8x8xi64>
  return %r : tensor<1x4x8x8xi64>
}

// -----

// Weights that are not constant ask for nothing: their order is the caller's.
// CHECK-LABEL: func.func @variable_weights
// CHECK-NOT: tensor<1x8x8x
// CHECK: return
#nchw = affine_map<(n, o, h, w, c) -> (n, c, h, w)>
#oc = affine_map<(n, o, h, w, c) -> (o, c)>
#out = affine_map<(n, o, h, w, c) -> (n, o, h, w)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @variable_weights(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3xf32>) -> tensor<1x4x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #oc, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3xf32>)
      outs(%f : tensor<1x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// A matrix product with its columns last is as it should be.
// CHECK-LABEL: func.func @matmul
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @matmul(%x: tensor<4x8xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<8x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Scores of heads, of queries and keys whose heads lie innermost but for their
// own dims, stay in the model's order: side by side, the sums of heads would
// share no operand.
// CHECK-LABEL: func.func @heads
// CHECK: %[[SCORES:.*]] = linalg.generic {{.*}} ins({{.*}} : tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) outs(%{{.*}} : tensor<1x2x6x6xf32>)
// CHECK: return %[[SCORES]]
#cols = affine_map<(b, o, t, i) -> (b, i, t)>
#weight = affine_map<(b, o, t, i) -> (o, i)>
#sums = affine_map<(b, o, t, i) -> (b, o, t)>
#query = affine_map<(b, h, t, s, d) -> (b, h, d, t)>
#key = affine_map<(b, h, t, s, d) -> (b, h, d, s)>
#score = affine_map<(b, h, t, s, d) -> (b, h, t, s)>
func.func @heads(%x: tensor<1x3x6xf32>) -> tensor<1x2x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<16x3xf32>
  %e = tensor.empty() : tensor<1x16x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6xf32>) -> tensor<1x16x6xf32>
  %y = linalg.generic {indexing_maps = [#cols, #weight, #sums],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x3x6xf32>, tensor<16x3xf32>) outs(%f : tensor<1x16x6xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x16x6xf32>
  %yq = tensor.extract_slice %y[0, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<1x16x6xf32> to tensor<1x8x6xf32>
  %yk = tensor.extract_slice %y[0, 8, 0] [1, 8, 6] [1, 1, 1] : tensor<1x16x6xf32> to tensor<1x8x6xf32>
  %q = tensor.expand_shape %yq [[0], [1, 2], [3]] output_shape [1, 2, 4, 6]
      : tensor<1x8x6xf32> into tensor<1x2x4x6xf32>
  %k = tensor.expand_shape %yk [[0], [1, 2], [3]] output_shape [1, 2, 4, 6]
      : tensor<1x8x6xf32> into tensor<1x2x4x6xf32>
  %e2 = tensor.empty() : tensor<1x2x6x6xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %z = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) outs(%f2 : tensor<1x2x6x6xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x2x6x6xf32>
  return %z : tensor<1x2x6x6xf32>
}

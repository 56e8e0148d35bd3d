// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-form-integer-contractions=machine=cuda:sm_90a | FileCheck %s
// RUN: ashlar-opt %s --split-input-file --ashlar-form-integer-contractions=machine=cuda:sm_80 | FileCheck %s --check-prefix=HALF
// RUN: ashlar-opt %s --split-input-file --ashlar-form-integer-contractions | FileCheck %s --check-prefix=NONE

#id = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Floats of a byte of two types are multiplied as they are; weights are so
// without being read. The product of the scales follows, one for each column.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[X:.*]]: tensor<4x16xi8>
// CHECK: %[[F:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x16xi8>) outs(%{{.*}} : tensor<4x16xf8E4M3FN>)
// CHECK: arith.bitcast %{{.*}} : i8 to f8E4M3FN
// CHECK: %[[W:.*]] = arith.constant dense<1.000000e+00> : tensor<16x2xf8E5M2>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[F]], %[[W]] : tensor<4x16xf8E4M3FN>, tensor<16x2xf8E5M2>) outs(%{{.*}} : tensor<4x2xf32>)
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f32
// CHECK: arith.extf %{{.*}} : f8E5M2 to f32
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[SCALE:.*]] = arith.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[SCALE]] : tensor<4x2xf32>, tensor<2xf32>)
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return

// Where no unit has them, one for 16 bits holds them all.
// HALF-LABEL: func.func @weights
// HALF-COUNT-2: arith.extf %{{.*}} : f8E{{.*}} to f16
// HALF: ins(%{{.*}}, %{{.*}} : tensor<4x16xf16>, tensor<16x2xf16>) outs(%{{.*}} : tensor<4x2xf32>)

// Nothing changes without such units.
// NONE-LABEL: func.func @weights
// NONE: ins(%{{.*}}, %{{.*}} : tensor<4x16xf32>, tensor<16x2xf32>) outs(%{{.*}} : tensor<4x2xf32>)
func.func @weights(%x: tensor<4x16xi8>) -> tensor<4x2xf32> {
  %w = arith.constant dense<0x3c> : tensor<16x2xi8>
  %sx = arith.constant dense<0.5> : tensor<f32>
  %sw = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %ey = tensor.empty() : tensor<4x2xf32>
  %ew = tensor.empty() : tensor<16x2xf32>
  %dx = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sx : tensor<4x16xi8>, tensor<f32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %0 = arith.bitcast %q : i8 to f8E4M3FN
    %1 = arith.extf %0 : f8E4M3FN to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<4x16xf32>
  %dw = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %sw : tensor<16x2xi8>, tensor<2xf32>) outs(%ew : tensor<16x2xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %0 = arith.bitcast %q : i8 to f8E5M2
    %1 = arith.extf %0 : f8E5M2 to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<16x2xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dx, %dw : tensor<4x16xf32>, tensor<16x2xf32>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %0 = arith.addf %s, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// What was decoded without a scale needs none behind; margins are zeros of the
// type.
// CHECK-LABEL: func.func @pads
// CHECK: tensor.pad %{{.*}} low[1, 0] high[1, 0]
// CHECK: tensor.yield %{{.*}} : f8E4M3FN
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<6x16xf8E4M3FN>, tensor<16x2xf8E4M3FN>)
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @pads(%x: tensor<4x16xi8>, %w: tensor<16x2xi8>) -> tensor<6x2xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %ew = tensor.empty() : tensor<16x2xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x16xi8>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.bitcast %q : i8 to f8E4M3FN
    %1 = arith.extf %0 : f8E4M3FN to f32
    linalg.yield %1 : f32
  } -> tensor<4x16xf32>
  %dw = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<16x2xi8>) outs(%ew : tensor<16x2xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.bitcast %q : i8 to f8E4M3FN
    %1 = arith.extf %0 : f8E4M3FN to f32
    linalg.yield %1 : f32
  } -> tensor<16x2xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %dx low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x16xf32> to tensor<6x16xf32>
  %ey = tensor.empty() : tensor<6x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<6x2xf32>) -> tensor<6x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %dw : tensor<6x16xf32>, tensor<16x2xf32>) outs(%f : tensor<6x2xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %0 = arith.addf %s, %m : f32
    linalg.yield %0 : f32
  } -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Fewer terms than half of a step are decoded once, not for each product.
// CHECK-LABEL: func.func @few
// CHECK-NOT: xf8
// CHECK: return
func.func @few(%x: tensor<4x3xi8>, %w: tensor<3x2xi8>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %ew = tensor.empty() : tensor<3x2xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x3xi8>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.bitcast %q : i8 to f8E4M3FN
    %1 = arith.extf %0 : f8E4M3FN to f32
    linalg.yield %1 : f32
  } -> tensor<4x3xf32>
  %dw = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<3x2xi8>) outs(%ew : tensor<3x2xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.bitcast %q : i8 to f8E4M3FN
    %1 = arith.extf %0 : f8E4M3FN to f32
    linalg.yield %1 : f32
  } -> tensor<3x2xf32>
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<4x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dx, %dw : tensor<4x3xf32>, tensor<3x2xf32>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %0 = arith.addf %s, %m : f32
    linalg.yield %0 : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

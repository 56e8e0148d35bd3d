// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-add-biases-to-sums --split-input-file | FileCheck %s

// A bias in the unit of the sums, a power of two, is added before the scale.
// CHECK-LABEL: @exact
// CHECK: %[[BIAS:.*]] = arith.constant dense<[20, -3]> : tensor<2xi32>
// CHECK: tile.contract {{.*}} epilogue(%[[BIAS]] : tensor<2xi32>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: i32, %[[B:.*]]: i32)
// CHECK: %[[ALL:.*]] = arith.addi %[[SUM]], %[[B]] : i32
// CHECK: %[[F:.*]] = arith.sitofp %[[ALL]]
// CHECK: %[[S:.*]] = arith.mulf %[[F]]
// CHECK-NOT: arith.addf
// CHECK: tile.yield %[[S]]
func.func @exact(%a: tensor<4x3xi8>, %b: tensor<3x2xi8>) -> tensor<4x2xf32> {
  %bias = arith.constant dense<[2.5, -0.375]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %y = tile.contract a(%a : tensor<4x3xi8>) b(%b : tensor<3x2xi8>) epilogue(%bias : tensor<2xf32>) outs(%e : tensor<4x2xf32>) attributes {maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], parallel = array<i64: 4, 2>, reduced = array<i64: 3>} {
  ^bb0(%sum: i32, %x: f32):
    %scale = arith.constant 0.125 : f32
    %f = arith.sitofp %sum : i32 to f32
    %s = arith.mulf %f, %scale : f32
    %r = arith.addf %s, %x : f32
    tile.yield %r : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// One that is no multiple of the unit stays where it is.
// CHECK-LABEL: @fraction
// CHECK: arith.addf
func.func @fraction(%a: tensor<4x3xi8>, %b: tensor<3x2xi8>) -> tensor<4x2xf32> {
  %bias = arith.constant dense<[2.5, 0.3]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %y = tile.contract a(%a : tensor<4x3xi8>) b(%b : tensor<3x2xi8>) epilogue(%bias : tensor<2xf32>) outs(%e : tensor<4x2xf32>) attributes {maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], parallel = array<i64: 4, 2>, reduced = array<i64: 3>} {
  ^bb0(%sum: i32, %x: f32):
    %scale = arith.constant 0.125 : f32
    %f = arith.sitofp %sum : i32 to f32
    %s = arith.mulf %f, %scale : f32
    %r = arith.addf %s, %x : f32
    tile.yield %r : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// Of 2000 terms that nothing is known of, sums may have more bits than f32.
// CHECK-LABEL: @inexact
// CHECK: arith.addf
func.func @inexact(%a: tensor<4x2000xi8>, %b: tensor<2000x2xi8>) -> tensor<4x2xf32> {
  %bias = arith.constant dense<[2.5, -0.375]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %y = tile.contract a(%a : tensor<4x2000xi8>) b(%b : tensor<2000x2xi8>) epilogue(%bias : tensor<2xf32>) outs(%e : tensor<4x2xf32>) attributes {maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], parallel = array<i64: 4, 2>, reduced = array<i64: 2000>} {
  ^bb0(%sum: i32, %x: f32):
    %scale = arith.constant 0.125 : f32
    %f = arith.sitofp %sum : i32 to f32
    %s = arith.mulf %f, %scale : f32
    %r = arith.addf %s, %x : f32
    tile.yield %r : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

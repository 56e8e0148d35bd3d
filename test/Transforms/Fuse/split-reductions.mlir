// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-split-reductions=machine=cuda:sm_90a --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-split-reductions=machine=cpu:x86-64-v3 --split-input-file | FileCheck %s --check-prefix=ALONE

// One long row: workgroups have parts of it, and one adds what they come to, in
// their order, and what is left behind the last part.
// ALONE-LABEL: func.func @one_row
// ALONE-COUNT-1: linalg.generic
// ALONE-NOT: linalg.generic
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * [[N:[0-9]+]] + d2)>
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[BEHIND:.*]] = affine_map<(d0, d1) -> (d0, d1 + {{[0-9]+}})>
// CHECK-LABEL: func.func @one_row
// CHECK: %[[PARTS:.*]] = linalg.generic {indexing_maps = [#[[PART]], #{{.*}}, #[[PLACE]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %{{.*}} : tensor<1x10000019xf32>, tensor<[[N]]xf32>) outs(%{{.*}} : tensor<1x[[P:[0-9]+]]xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[PARTS]] : tensor<1x[[P]]xf32>)
// CHECK: %[[REST:.*]] = linalg.generic {indexing_maps = [#[[BEHIND]], {{.*}} ins(%arg0, %{{.*}} : tensor<1x10000019xf32>, tensor<{{[0-9]+}}xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[REST]] : tensor<1xf32>, tensor<1xf32>)
func.func @one_row(%x: tensor<1x10000019xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1x10000019xf32>) outs(%z : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<1xf32>
  return %s : tensor<1xf32>
}

// -----

// ALONE-LABEL: func.func @columns
// Columns: parts of rows, each with all columns beside each other.
// CHECK: affine_map<(d0, d1, d2) -> (d0 * {{[0-9]+}} + d1, d2)>
// CHECK-LABEL: func.func @columns
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins({{.*}} outs(%{{.*}} : tensor<{{[0-9]+}}x256xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{[^,]*}} : tensor<{{[0-9]+}}x256xf32>) outs(%arg1 : tensor<256xf32>)
func.func @columns(%x: tensor<100000x256xf32>, %z: tensor<256xf32>) -> tensor<256xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<100000x256xf32>) outs(%z : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<256xf32>
  return %s : tensor<256xf32>
}

// -----

// As many rows as workgroups, and what has no order: left alone.
// CHECK-LABEL: func.func @many_rows
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @many_rows(%x: tensor<32768x4096xf32>, %z: tensor<32768xf32>) -> tensor<32768xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<32768x4096xf32>) outs(%z : tensor<32768xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<32768xf32>
  return %s : tensor<32768xf32>
}
// CHECK-LABEL: func.func @differences
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @differences(%x: tensor<16777216xf32>, %z: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<16777216xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// Exponentials of a row have no room in a workgroup's memory: both readers
// compute them again. So few rows are shared out, and each of the last two ops
// combines the parts of what it reads for itself.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[MAXIMA:.*]] = linalg.generic {{.*}} ins(%arg0, %{{.*}} attrs = {{.*}}ashlar.parts
// CHECK: arith.maximumf
// CHECK: %[[M1:.*]] = linalg.generic {{.*}} ins(%[[MAXIMA]] :
// CHECK: %[[M2:.*]] = linalg.generic {{.*}} ins(%[[MAXIMA]] :
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%arg0, %[[M1]], %{{.*}} attrs = {{.*}}ashlar.parts
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] :
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[M2]], %[[S]] : {{.*}}) outs(%{{.*}} : tensor<2x131072xf32>)
// CHECK: math.exp
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
func.func @softmax(%x: tensor<2x131072xf32>) -> tensor<2x131072xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %w = tensor.empty() : tensor<2x131072xf32>
  %l = linalg.fill ins(%least : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x131072xf32>) outs(%l : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<2x131072xf32>, tensor<2xf32>) outs(%w : tensor<2x131072xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %d = arith.subf %a, %b : f32
    %c = math.exp %d : f32
    linalg.yield %c : f32
  } -> tensor<2x131072xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<2x131072xf32>) outs(%z : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<2x131072xf32>, tensor<2xf32>) outs(%w : tensor<2x131072xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %c = arith.divf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2x131072xf32>
  return %y : tensor<2x131072xf32>
}

// -----

// The dims of a window are dims of no operand's memory, and are not joined.
// CHECK-LABEL: func.func @window
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @window(%x: tensor<2x8x8x16xf32>, %k: tensor<2x2xf32>, %z: tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, r, s) -> (n, h * 2 + r, w * 2 + s, c)>, affine_map<(n, h, w, c, r, s) -> (r, s)>, affine_map<(n, h, w, c, r, s) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %k : tensor<2x8x8x16xf32>, tensor<2x2xf32>) outs(%z : tensor<2x4x4x16xf32>) {
  ^bb0(%a: f32, %unread: f32, %b: f32):
    %m = arith.maximumf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<2x4x4x16xf32>
  return %s : tensor<2x4x4x16xf32>
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One and the same tile program is made for every contraction: what differs is
// sizes and addresses. The four programs below are checked by the same lines.
//
// DEFINE: %{fuse} = 'builtin.module(ashlar-fuse-pipeline)'
// DEFINE: %{expand} = 'builtin.module(ashlar-fuse-pipeline,ashlar-outline-kernels,func.func(ashlar-bufferize-kernels,ashlar-expand-contracts))'
// RUN: split-file %s %t
// RUN: ashlar-opt %t/matmul.mlir --pass-pipeline=%{fuse} | FileCheck %s --check-prefix=WHAT
// RUN: ashlar-opt %t/convolution.mlir --pass-pipeline=%{fuse} | FileCheck %s --check-prefix=WHAT
// RUN: ashlar-opt %t/depthwise.mlir --pass-pipeline=%{fuse} | FileCheck %s --check-prefix=WHAT
// RUN: ashlar-opt %t/attention.mlir --pass-pipeline=%{fuse} | FileCheck %s --check-prefix=WHAT
// RUN: ashlar-opt %t/matmul.mlir --pass-pipeline=%{expand} | FileCheck %s --check-prefix=HOW
// RUN: ashlar-opt %t/convolution.mlir --pass-pipeline=%{expand} | FileCheck %s --check-prefix=HOW
// RUN: ashlar-opt %t/depthwise.mlir --pass-pipeline=%{expand} | FileCheck %s --check-prefix=HOW
// RUN: ashlar-opt %t/attention.mlir --pass-pipeline=%{expand} | FileCheck %s --check-prefix=HOW
//
// After `fuse`: one dispatch, and in it one contraction with a strategy.
// WHAT: exec.dispatch
// WHAT: tile.contract a(%{{.*}}) b(%{{.*}}) outs(%{{.*}}) attributes
// WHAT-SAME: maps = [{{.*}}], parallel = array<i64: {{.*}}>, reduced = array<i64: {{.*}}>, strategy = #tile.strategy<
// WHAT-NEXT: ^bb0(%[[SUM:.*]]: f32):
// WHAT-NEXT: tile.yield %[[SUM]] : f32
// WHAT-NOT: linalg.generic
// WHAT-NOT: exec.dispatch
//
// Expanded: an accumulator starts at zero, takes a step, and is drained.
// HOW: %[[ACC:.*]] = tile.init %{{.*}} : f32 to <
// HOW: %[[SUMS:.*]] = tile.step %[[ACC]], %{{.*}}, %{{.*}} {aMap = #{{.*}}, bMap = #{{.*}}, reduced = array<i64: {{.*}}>, unroll = 4 : i64}
// HOW: tile.drain %[[SUMS]] to %{{.*}} : memref<{{.*}}> attributes {maps = [#{{.*}}]} {
// HOW-NEXT: ^bb0(%[[X:.*]]: f32):
// HOW-NEXT: tile.yield %[[X]] : f32
// HOW-NOT: tile.contract

//--- matmul.mlir
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @matmul(%a: tensor<20x24xf32>, %b: tensor<24x40xf32>) -> tensor<20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<20x24xf32>, tensor<24x40xf32>) outs(%z : tensor<20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}

//--- convolution.mlir
func.func @conv(%x: tensor<1x21x21x16xf32>, %w: tensor<3x3x16x40xf32>) -> tensor<1x10x10x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x40xf32>) -> tensor<1x10x10x40xf32>
  %y = linalg.generic {indexing_maps = [
        affine_map<(n, h, w, o, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>,
        affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>,
        affine_map<(n, h, w, o, r, s, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x21x21x16xf32>, tensor<3x3x16x40xf32>) outs(%z : tensor<1x10x10x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x10x10x40xf32>
  return %y : tensor<1x10x10x40xf32>
}

//--- depthwise.mlir
func.func @depthwise(%x: tensor<1x12x12x40xf32>, %w: tensor<3x3x40xf32>) -> tensor<1x10x10x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x40xf32>) -> tensor<1x10x10x40xf32>
  %y = linalg.generic {indexing_maps = [
        affine_map<(n, h, w, c, r, s) -> (n, h + r, w + s, c)>,
        affine_map<(n, h, w, c, r, s) -> (r, s, c)>,
        affine_map<(n, h, w, c, r, s) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x12x12x40xf32>, tensor<3x3x40xf32>) outs(%z : tensor<1x10x10x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x10x10x40xf32>
  return %y : tensor<1x10x10x40xf32>
}

//--- attention.mlir
func.func @attention(%q: tensor<2x20x24xf32>, %k: tensor<2x40x24xf32>) -> tensor<2x20x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x20x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x20x40xf32>) -> tensor<2x20x40xf32>
  %y = linalg.generic {indexing_maps = [
        affine_map<(h, m, n, k) -> (h, m, k)>,
        affine_map<(h, m, n, k) -> (h, n, k)>,
        affine_map<(h, m, n, k) -> (h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x20x24xf32>, tensor<2x40x24xf32>) outs(%z : tensor<2x20x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x20x40xf32>
  return %y : tensor<2x20x40xf32>
}

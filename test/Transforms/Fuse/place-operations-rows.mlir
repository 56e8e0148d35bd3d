// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s '--ashlar-place-operations=machine=cpu:x86-64-v3 devices=systolic:tpu-128' | FileCheck %s --implicit-check-not=tile.row_sum --implicit-check-not=unrounded
// RUN: ashlar-opt %s '--ashlar-place-operations=machine=cpu:x86-64-v3 devices=systolic:tpu-128 absorb-rows=false' | FileCheck %s --check-prefix=APART --implicit-check-not='device = '
// RUN: ashlar-opt %s '--ashlar-place-operations=machine=cpu:x86-64-v3 devices=systolic:tpu-128' --ashlar-form-dispatches --ashlar-absorb-rows=devices=systolic:tpu-128 --ashlar-insert-transfers | FileCheck %s --check-prefix=AFTER --implicit-check-not=linalg.generic

// Rows behind a product are part of it on a device that combines them, so that
// its sums, which are many, do not cross: both products run there. What was
// tried for that is gone.
// CHECK-LABEL: func.func @attention
// CHECK-COUNT-2: tile.contract {{.*}}device = 1
// Where rows are a kernel of the host in any case, all of it stays.
// APART-LABEL: func.func @attention
// What is placed so is what becomes of it.
// AFTER-LABEL: func.func @attention
// AFTER-COUNT-3: exec.transfer %arg{{.*}} to 1
// AFTER-COUNT-2: exec.dispatch{{.*}}device = 1
// AFTER: exec.transfer {{.*}} to 0
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @attention(%q: tensor<512x16xbf16>, %k: tensor<16x512xbf16>, %v: tensor<512x16xbf16>) -> tensor<512x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %scores = tile.contract a(%q : tensor<512x16xbf16>) b(%k : tensor<16x512xbf16>) outs(%e : tensor<512x512xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 16>} {
  ^bb0(%sum: f32):
    %power = math.exp %sum : f32
    tile.yield %power : f32
  } -> tensor<512x512xf32>
  %r = tensor.empty() : tensor<512xf32>
  %none = linalg.fill ins(%zero : f32) outs(%r : tensor<512xf32>) -> tensor<512xf32>
  %rows = linalg.generic {indexing_maps = [#c, #row], iterator_types = ["parallel", "reduction"]}
      ins(%scores : tensor<512x512xf32>) outs(%none : tensor<512xf32>) {
  ^bb0(%in: f32, %all: f32):
    %s = arith.addf %all, %in : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %f = tensor.empty() : tensor<512x512xbf16>
  %p = linalg.generic {indexing_maps = [#c, #row, #c], iterator_types = ["parallel", "parallel"]}
      ins(%scores, %rows : tensor<512x512xf32>, tensor<512xf32>) outs(%f : tensor<512x512xbf16>) {
  ^bb0(%in: f32, %all: f32, %o: bf16):
    %s = arith.divf %in, %all : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<512x512xbf16>
  %g = tensor.empty() : tensor<512x16xf32>
  %y = tile.contract a(%p : tensor<512x512xbf16>) b(%v : tensor<512x16xbf16>) outs(%g : tensor<512x16xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 16>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x16xf32>
  return %y : tensor<512x16xf32>
}

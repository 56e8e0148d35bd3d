// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-fuse-elementwise --split-input-file | FileCheck %s

// A producer disappears into its only reader.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
#same = affine_map<(i) -> (i)>
func.func @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.exp %u : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%a, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %w: f32, %o: f32):
    %v = arith.addf %u, %w : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

// What two ops read stays, or it would be computed twice.
// CHECK-LABEL: func.func @twoReaders
// CHECK-COUNT-3: linalg.generic
#same = affine_map<(i) -> (i)>
func.func @twoReaders(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.exp %u : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.sin %u : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.cos %u : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %b, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// A reader that broadcasts would compute every element many times.
// CHECK-LABEL: func.func @broadcast
// CHECK-COUNT-2: linalg.generic
func.func @broadcast(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.exp %u : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %g = tensor.empty() : tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8xf32>) outs(%g : tensor<4x8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.sin %u : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// A contraction reads its operands many times, so nothing joins it here.
// CHECK-LABEL: func.func @contraction
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.matmul
func.func @contraction(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>,
                       %init: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = math.exp %u : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %m = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %m : tensor<4x16xf32>
}

// -----

// A producer that reads no tensor costs nothing to repeat.
// CHECK-LABEL: func.func @constantProducer
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @constantProducer(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %two : f32
  } -> tensor<8xf32>
  %g = tensor.empty() : tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %a : tensor<4x8xf32>, tensor<8xf32>) outs(%g : tensor<4x8xf32>) {
  ^bb0(%u: f32, %w: f32, %o: f32):
    %v = arith.mulf %u, %w : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// Two contractions whose sums meet: the first one's kernel adds them. What the
// other one's bias makes of its sums is rounded where it is stored, not where
// it is read, so that half as much passes between them.
// CHECK-LABEL: func.func @shortcut
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%arg0, %arg2
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[B]], %arg3
// CHECK: -> tensor<8x8xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[N]] : tensor<8x8xf32>, tensor<8x8xbf16>)
// CHECK-NOT: linalg.generic
#both = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @shortcut(%x: tensor<8x8xbf16>, %v: tensor<8x8xbf16>, %w: tensor<8x8xbf16>,
                    %bias: tensor<8xf32>) -> tensor<8x8xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %l = tensor.empty() : tensor<8x8xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %main = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%p: bf16, %q: bf16, %o: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  %other = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%p: bf16, %q: bf16, %o: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  %biased = linalg.generic {indexing_maps = [#both, #column, #both], iterator_types = ["parallel", "parallel"]}
      ins(%other, %bias : tensor<8x8xf32>, tensor<8xf32>) outs(%l : tensor<8x8xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %0 = arith.addf %p, %q : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<8x8xbf16>
  %sum = linalg.generic {indexing_maps = [#both, #both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%main, %biased : tensor<8x8xf32>, tensor<8x8xbf16>) outs(%l : tensor<8x8xbf16>) {
  ^bb0(%p: f32, %q: bf16, %o: bf16):
    %0 = arith.extf %q : bf16 to f32
    %1 = arith.addf %p, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<8x8xbf16>
  return %sum : tensor<8x8xbf16>
}

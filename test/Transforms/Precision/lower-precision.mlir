// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-lower-precision=type=bf16 | FileCheck %s
// RUN: ashlar-opt %s --split-input-file --ashlar-lower-precision=type=f16 | FileCheck %s --check-prefix=F16

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Products are of the low type and summed up in f32; weights are rounded where
// they stand; what the two products pass on is stored low, and computed with in
// f32. The signature keeps its types, so its operand is converted.
// CHECK-LABEL: func.func @contraction
// CHECK-SAME: tensor<64x128xf32>) -> tensor<64x128xf32>
// CHECK: %[[X:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x128xbf16>)
// CHECK: arith.truncf %{{.*}} fastmath<contract>
// CHECK: %[[W:.*]] = arith.constant dense<2.000000e+00> : tensor<128x128xbf16>
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<64x128xbf16>, tensor<128x128xbf16>) outs(%{{.*}} : tensor<64x128xf32>)
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: %[[LOW:.*]] = linalg.generic {{.*}} ins(%[[FIRST]] : tensor<64x128xf32>) outs(%{{.*}} : tensor<64x128xbf16>)
// CHECK: %[[RELU:.*]] = linalg.generic {{.*}} ins(%[[LOW]] : tensor<64x128xbf16>) outs(%{{.*}} : tensor<64x128xbf16>)
// CHECK: arith.extf
// CHECK: arith.maximumf %{{.*}} : f32
// CHECK: arith.truncf
// CHECK: linalg.generic {{.*}} ins(%[[RELU]], %[[W]] : tensor<64x128xbf16>, tensor<128x128xbf16>) outs(%{{.*}} : tensor<64x128xf32>)
// CHECK-NOT: arith.truncf
// CHECK: return %{{.*}} : tensor<64x128xf32>
// F16-LABEL: func.func @contraction
// F16: linalg.generic {{.*}} : tensor<64x128xf16>, tensor<128x128xf16>) outs(%{{.*}} : tensor<64x128xf32>)
func.func @contraction(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<128x128xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x128xf32>, tensor<128x128xf32>) outs(%f : tensor<64x128xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %z : f32
    linalg.yield %m : f32
  } -> tensor<64x128xf32>
  %2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%1, %w : tensor<64x128xf32>, tensor<128x128xf32>) outs(%f : tensor<64x128xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  return %2 : tensor<64x128xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A softmax stays f32 from what it subtracts from to what it divides by: the
// value that the maximum is subtracted from, the maximum, the exponentials and
// their sum. The quotient may be low again.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[X:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x64xf32>)
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<64x64xf32>) outs(%{{.*}} : tensor<64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<64x64xf32>, tensor<64xf32>) outs(%{{.*}} : tensor<64x64xf32>)
// CHECK: arith.subf
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x64xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64xf32>)
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<64x64xf32>, tensor<64xf32>) outs(%{{.*}} : tensor<64x64xbf16>)
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} ins(%[[Q]] : tensor<64x64xbf16>) outs(%{{.*}} : tensor<64x64xf32>)
func.func @softmax(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %i = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %r = tensor.empty() : tensor<64xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %fi = linalg.fill ins(%i : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%fi : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.maximumf %v, %o : f32
    linalg.yield %y : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.subf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %x2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.exp %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %fz = linalg.fill ins(%z : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x2 : tensor<64x64xf32>) outs(%fz : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.addf %v, %o : f32
    linalg.yield %y : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x2, %s : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.divf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %n : tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A sum reads what was rounded, adds it up in f32 and stays f32, and so does
// what is computed from nothing else.
// CHECK-LABEL: func.func @sum
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4096x64xbf16>) outs(%{{.*}} : tensor<4096xf32>)
// CHECK: arith.extf
// CHECK: arith.addf %{{.*}} : f32
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<4096xf32>) outs(%{{.*}} : tensor<4096xf32>)
func.func @sum(%a: tensor<4096x64xf32>) -> tensor<4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x64xf32>
  %r = tensor.empty() : tensor<4096xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4096x64xf32>) outs(%e : tensor<4096x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<4096x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%r : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x64xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.addf %v, %o : f32
    linalg.yield %y : f32
  } -> tensor<4096xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4096xf32>) outs(%r : tensor<4096xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<4096xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%t : tensor<4096xf32>) outs(%r : tensor<4096xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.absf %v : f32
    linalg.yield %y : f32
  } -> tensor<4096xf32>
  return %u : tensor<4096xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What only moves has one type before and after, pads included, and a maximum
// rounds nothing.
// CHECK-LABEL: func.func @moves
// CHECK: %[[MARGIN:.*]] = arith.constant 0xFF80 : bf16
// CHECK: tensor.yield %[[MARGIN]] : bf16
// CHECK: tensor<64x64xbf16> to tensor<64x66xbf16>
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<64x8xbf16>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x8xbf16>)
// CHECK-NOT: extf
// CHECK: arith.maximumf %{{.*}} : bf16
func.func @moves(%a: tensor<64x64xf32>) -> tensor<64x8xf32> {
  %i = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %r = tensor.empty() : tensor<64x8xf32>
  %w = tensor.empty() : tensor<9xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%u: index, %v: index):
    tensor.yield %i : f32
  } : tensor<64x64xf32> to tensor<64x66xf32>
  %f = linalg.fill ins(%i : f32) outs(%r : tensor<64x8xf32>) -> tensor<64x8xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j * 8 + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<64x66xf32>, tensor<9xf32>) outs(%f : tensor<64x8xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %y = arith.maximumf %o, %v : f32
    linalg.yield %y : f32
  } -> tensor<64x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<64x8xf32>) outs(%r : tensor<64x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x8xf32>
  return %n : tensor<64x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// An op that makes booleans, a sine, and a logarithm read no rounded value.
// CHECK-LABEL: func.func @decision
// CHECK-NOT: bf16
// CHECK-LABEL: func.func @periodic
// CHECK-NOT: bf16
// CHECK-LABEL: func.func @logarithm
// CHECK-NOT: bf16
// A sigmoid's exponential is bounded, so it may.
// CHECK-LABEL: func.func @sigmoid
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x64xbf16>)
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64x64xbf16>) outs(%{{.*}} : tensor<64x64xf32>)
func.func @decision(%a: tensor<64x64xf32>) -> tensor<64x64xi8> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %b = tensor.empty() : tensor<64x64xi8>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%b : tensor<64x64xi8>) {
  ^bb0(%v: f32, %o: i8):
    %c = arith.fptosi %v : f32 to i8
    linalg.yield %c : i8
  } -> tensor<64x64xi8>
  return %y : tensor<64x64xi8>
}
func.func @periodic(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c = math.sin %v : f32
    linalg.yield %c : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
func.func @logarithm(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c = math.log %v : f32
    linalg.yield %c : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
func.func @sigmoid(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c = math.exp %v : f32
    %d = arith.addf %c, %one : f32
    %q = arith.divf %one, %d : f32
    linalg.yield %q : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// f16 has no number as large as this mask's; bf16 has.
// CHECK-LABEL: func.func @range
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x64xbf16>)
// F16-LABEL: func.func @range
// F16-NOT: f16
func.func @range(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %mask = arith.constant -1.0e6 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.mulf %v, %mask : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c = arith.negf %v : f32
    linalg.yield %c : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A value with a reader that insists on f32 stays f32 for all of them.
// CHECK-LABEL: func.func @disagreement
// CHECK-NOT: bf16
func.func @disagreement(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c = math.absf %v : f32
    linalg.yield %c : f32
  } -> tensor<64x64xf32>
  return %x, %y : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>

// What adds to what is there, a depthwise convolution of one tap, goes on doing
// so in f32; its result is rounded behind it.
// F16-LABEL: func.func @adds
// CHECK-LABEL: func.func @adds
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x64xf32>)
// CHECK: arith.mulf %{{.*}} : f32
// CHECK-NEXT: arith.addf %{{.*}} : f32
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<64x64xf32>) outs(%{{.*}} : tensor<64x64xbf16>)
func.func @adds(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %start: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%start : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32> loc("adds")
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%start : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32> loc("product")
  return %1 : tensor<64x64xf32>
}

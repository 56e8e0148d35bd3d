// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-form-integer-contractions | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Bytes are multiplied. What the zero point of x is worth in each column, 3 (1 +
// 5) and 3 (2 + 6), is subtracted from the sums, which the product of the scales
// multiplies, one for each column. Nobody dequantizes any more.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[X:.*]]: tensor<4x2xi8>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[}}[1, 2], [5, 6]]> : tensor<2x2xi8>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<4x2xi8>, tensor<2x2xi8>) outs(%{{.*}} : tensor<4x2xi32>)
// CHECK: arith.extui
// CHECK: arith.extsi
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<[18, 24]> : tensor<2xi32>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[ZERO]], %[[SCALE]] : tensor<4x2xi32>, tensor<2xi32>, tensor<2xf32>)
// CHECK: arith.subi
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @weights(%x: tensor<4x2xi8>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1, 2], [5, 6]]> : tensor<2x2xi8>
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %sw = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %ew = tensor.empty() : tensor<2x2xf32>
  %dx = linalg.generic {indexing_maps = [#id, #one, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sx, %zx : tensor<4x2xi8>, tensor<f32>, tensor<i8>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%q: i8, %s: f32, %z: i8, %o: f32):
    %0 = arith.extui %q : i8 to i32
    %1 = arith.extui %z : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.mulf %3, %s : f32
    linalg.yield %4 : f32
  } -> tensor<4x2xf32>
  %dw = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %sw : tensor<2x2xi8>, tensor<2xf32>) outs(%ew : tensor<2x2xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dx, %dw : tensor<4x2xf32>, tensor<2x2xf32>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Of two operands that are both computed, each has its bytes summed for the
// other's zero point: sum - 3 columns - 7 rows + 16 * 3 * 7. A pad in front of
// a product holds the zero point, which is worth nothing.
// CHECK-LABEL: func.func @computed
// CHECK-SAME: %[[X:.*]]: tensor<4x14xi8>, %[[Y:.*]]: tensor<16x8xi8>
// CHECK: %[[THREE:.*]] = arith.constant 3 : i8
// CHECK: %[[P:.*]] = tensor.pad %[[X]] low[0, 1] high[0, 1]
// CHECK: tensor.yield %[[THREE]] : i8
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[Y]] : tensor<4x16xi8>, tensor<16x8xi8>)
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[Y]], %{{.*}} outs(%{{.*}} : tensor<8xi32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]], %{{.*}} outs(%{{.*}} : tensor<4xi32>)
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[C]], %[[R]] : tensor<4x8xi32>, tensor<8xi32>, tensor<4xi32>)
// CHECK: arith.constant 3 : i32
// CHECK: arith.constant 7 : i32
// CHECK: arith.constant 336 : i32
// CHECK: arith.constant 1.250000e-01 : f32
func.func @computed(%x: tensor<4x14xi8>, %y: tensor<16x8xi8>) -> tensor<4x8xf32> {
  %ex = tensor.empty() : tensor<4x14xf32>
  %ey = tensor.empty() : tensor<16x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %half = arith.constant 0.5 : f32
  %quarter = arith.constant 0.25 : f32
  %three = arith.constant 3 : i32
  %seven = arith.constant 7 : i32
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x14xi8>) outs(%ex : tensor<4x14xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.subi %0, %three : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %half, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x14xf32>
  %dy = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<16x8xi8>) outs(%ey : tensor<16x8xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.subi %0, %seven : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %quarter : f32
    linalg.yield %3 : f32
  } -> tensor<16x8xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %dx low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x14xf32> to tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %dy : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%l: f32, %m: f32, %s: f32):
    %p = arith.mulf %l, %m : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Scales that follow the summed dim cannot stand behind the sum.
// CHECK-LABEL: func.func @alongTheSum
// CHECK-NOT: arith.muli
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: arith.muli
func.func @alongTheSum(%x: tensor<4x2xi8>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1, 2], [5, 6]]> : tensor<2x2xi8>
  %sw = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %ew = tensor.empty() : tensor<2x2xf32>
  %half = arith.constant 0.5 : f32
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x2xi8>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.extui %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %half : f32
    linalg.yield %2 : f32
  } -> tensor<4x2xf32>
  %dw = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %sw : tensor<2x2xi8>, tensor<2xf32>) outs(%ew : tensor<2x2xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dx, %dw : tensor<4x2xf32>, tensor<2x2xf32>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// So many terms might overflow 32 bits, which f32 does not.
// CHECK-LABEL: func.func @long
// CHECK-NOT: arith.muli
func.func @long(%x: tensor<2x40000xi8>, %w: tensor<40000x2xi8>) -> tensor<2x2xf32> {
  %ex = tensor.empty() : tensor<2x40000xf32>
  %ew = tensor.empty() : tensor<40000x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %half = arith.constant 0.5 : f32
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x40000xi8>) outs(%ex : tensor<2x40000xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.extui %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %half : f32
    linalg.yield %2 : f32
  } -> tensor<2x40000xf32>
  %dw = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<40000x2xi8>) outs(%ew : tensor<40000x2xf32>) {
  ^bb0(%q: i8, %o: f32):
    %0 = arith.extui %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %half : f32
    linalg.yield %2 : f32
  } -> tensor<40000x2xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dx, %dw : tensor<2x40000xf32>, tensor<40000x2xf32>) outs(%f : tensor<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// A zero point and a scale that each call chooses, as dynamic quantization has
// them: the sums of constant columns are known, 6 and 8, and multiplied by the
// zero point where it is there. Margins hold it, too.
// CHECK-LABEL: func.func @chosen
// CHECK-SAME: %[[X:.*]]: tensor<4x1xi8>, %[[Z:.*]]: tensor<i8>, %[[R:.*]]: tensor<f32>
// CHECK: %[[BYTE:.*]] = tensor.extract %[[Z]][] : tensor<i8>
// CHECK: %[[P:.*]] = tensor.pad %[[X]] low[0, 0] high[0, 1]
// CHECK: tensor.yield %[[BYTE]] : i8
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]], %{{.*}} : tensor<4x2xi8>, tensor<2x2xi8>) outs(%{{.*}} : tensor<4x2xi32>)
// CHECK: %[[SUMS:.*]] = arith.constant dense<[6, 8]> : tensor<2xi32>
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[Z]], %[[SUMS]], %[[R]] : tensor<4x2xi32>, tensor<i8>, tensor<2xi32>, tensor<f32>)
// CHECK: ^bb0(%[[SUM:.*]]: i32, %[[ZERO:.*]]: i8, %[[KNOWN:.*]]: i32, %[[SCALE:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extui %[[ZERO]] : i8 to i32
// CHECK-NEXT: %[[WORTH:.*]] = arith.muli %[[KNOWN]], %[[WIDE]] : i32
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[SUM]], %[[WORTH]] : i32
// CHECK-NEXT: %[[FLOAT:.*]] = arith.sitofp %[[LEFT]] : i32 to f32
// CHECK: %[[BOTH:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK-NEXT: arith.mulf %[[FLOAT]], %[[BOTH]] : f32
func.func @chosen(%x: tensor<4x1xi8>, %z: tensor<i8>, %r: tensor<f32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1, 2], [5, 6]]> : tensor<2x2xi8>
  %sw = arith.constant dense<0.5> : tensor<f32>
  %ex = tensor.empty() : tensor<4x1xf32>
  %ew = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %dx = linalg.generic {indexing_maps = [#id, #one, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %z : tensor<4x1xi8>, tensor<f32>, tensor<i8>) outs(%ex : tensor<4x1xf32>) {
  ^bb0(%q: i8, %s: f32, %p: i8, %o: f32):
    %0 = arith.extui %q : i8 to i32
    %1 = arith.extui %p : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.mulf %3, %s : f32
    linalg.yield %4 : f32
  } -> tensor<4x1xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %dx low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x1xf32> to tensor<4x2xf32>
  %dw = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %sw : tensor<2x2xi8>, tensor<f32>) outs(%ew : tensor<2x2xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %dw : tensor<4x2xf32>, tensor<2x2xf32>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r2: f32, %s: f32):
    %p = arith.mulf %l, %r2 : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Scales that are a resource, as those of many columns, are constants, too.
// CHECK-LABEL: func.func @many_scales
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<4x2xi8>, tensor<2x2xi8>) outs(%{{.*}} : tensor<4x2xi32>)
// CHECK: arith.constant dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
func.func @many_scales(%x: tensor<4x2xi8>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1, 2], [5, 6]]> : tensor<2x2xi8>
  %sw = arith.constant dense_resource<scales> : tensor<2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %ew = tensor.empty() : tensor<2x2xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x2xi8>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%q: i8, %o: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %one : f32
    linalg.yield %2 : f32
  } -> tensor<4x2xf32>
  %dw = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %sw : tensor<2x2xi8>, tensor<2xf32>) outs(%ew : tensor<2x2xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %0 = arith.extsi %q : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dx, %dw : tensor<4x2xf32>, tensor<2x2xf32>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %p = arith.mulf %l, %r : f32
    %0 = arith.addf %s, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      scales: "0x040000000000803E0000003F"
    }
  }
#-}

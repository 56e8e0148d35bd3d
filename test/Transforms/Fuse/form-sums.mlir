// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-sums=devices=systolic:gemmini --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-form-sums=devices=systolic:tpu-256 --split-input-file | FileCheck %s --check-prefix=VECTORS
// RUN: ashlar-opt %s --ashlar-form-sums=devices=systolic:gemmini --split-input-file --remark-format=emitRemark --remarks-filter=place -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: not ashlar-opt %s --ashlar-form-sums=devices=systolic:tpu-9 --split-input-file 2>&1 | FileCheck %s --check-prefix=PRESET
// PRESET: error: devices=systolic:tpu-9: 'tpu-9' is not a preset of systolic

// Two tensors of bytes of one scale are added as integers, and scaled then; the
// rest of the body stays as it was. A machine with a vector unit needs no such
// form.
// CHECK-LABEL: func.func @residual
// CHECK-SAME: (%[[X:.*]]: tensor<4x6x32xi8>, %[[Y:.*]]: tensor<4x6x32xi8>)
// CHECK: %[[ONES:.*]] = arith.constant dense<1> : tensor<32xi8>
// CHECK: tile.contract a(%[[X]] : tensor<4x6x32xi8>) b(%[[ONES]] : tensor<32xi8>) epilogue(%[[Y]] : tensor<4x6x32xi8>)
// CHECK-SAME: tile.ones
// CHECK: ^bb0(%[[SUM:.*]]: i32, %[[BYTE:.*]]: i8)
// CHECK: %[[WIDE:.*]] = arith.extsi %[[BYTE]] : i8 to i32
// CHECK: %[[ALL:.*]] = arith.addi %[[SUM]], %[[WIDE]] : i32
// CHECK: %[[FLOAT:.*]] = arith.sitofp %[[ALL]] : i32 to f32
// CHECK: %[[SCALE:.*]] = arith.constant 6.250000e-02 : f32
// CHECK: %[[SCALED:.*]] = arith.mulf %[[FLOAT]], %[[SCALE]] : f32
// CHECK: arith.maximumf %[[SCALED]]
// CHECK-NOT: linalg.generic
// VECTORS-LABEL: func.func @residual
// VECTORS-NOT: tile.contract
// VECTORS: linalg.generic
// VECTORS-NOT: tile.contract
#each = affine_map<(h, w, c) -> (h, w, c)>
func.func @residual(%x: tensor<4x6x32xi8>, %y: tensor<4x6x32xi8>) -> tensor<4x6x32xi8> {
  %scale = arith.constant 6.250000e-02 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -128.0 : f32
  %most = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<4x6x32xi8>
  %z = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<4x6x32xi8>, tensor<4x6x32xi8>) outs(%e : tensor<4x6x32xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %aw = arith.extsi %a : i8 to i32
    %af = arith.sitofp %aw : i32 to f32
    %as = arith.mulf %af, %scale : f32
    %bw = arith.extsi %b : i8 to i32
    %bf = arith.sitofp %bw : i32 to f32
    %bs = arith.mulf %bf, %scale : f32
    %sum = arith.addf %as, %bs : f32
    %relu = arith.maximumf %sum, %zero : f32
    %unit = arith.divf %relu, %scale : f32
    %round = math.roundeven %unit : f32
    %low = arith.maxnumf %round, %least : f32
    %high = arith.minnumf %low, %most : f32
    %r = arith.fptosi %high : f32 to i8
    linalg.yield %r : i8
  } -> tensor<4x6x32xi8>
  return %z : tensor<4x6x32xi8>
}

// -----

// Of two scales, or of one that is no power of two, sums are not the same.
// CHECK-LABEL: func.func @scales
// CHECK-NOT: tile.contract
#each = affine_map<(c) -> (c)>
func.func @scales(%x: tensor<32xi8>, %y: tensor<32xi8>) -> (tensor<32xi8>, tensor<32xi8>) {
  %eighth = arith.constant 0.125 : f32
  %quarter = arith.constant 0.25 : f32
  %tenth = arith.constant 0.1 : f32
  %e = tensor.empty() : tensor<32xi8>
  %two = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<32xi8>, tensor<32xi8>) outs(%e : tensor<32xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %af = arith.sitofp %a : i8 to f32
    %as = arith.mulf %af, %eighth : f32
    %bf = arith.sitofp %b : i8 to f32
    %bs = arith.mulf %bf, %quarter : f32
    %sum = arith.addf %as, %bs : f32
    %round = math.roundeven %sum : f32
    %r = arith.fptosi %round : f32 to i8
    linalg.yield %r : i8
  } -> tensor<32xi8>
  %none = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<32xi8>, tensor<32xi8>) outs(%e : tensor<32xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %af = arith.sitofp %a : i8 to f32
    %as = arith.mulf %af, %tenth : f32
    %bf = arith.sitofp %b : i8 to f32
    %bs = arith.mulf %bf, %tenth : f32
    %sum = arith.addf %as, %bs : f32
    %round = math.roundeven %sum : f32
    %r = arith.fptosi %round : f32 to i8
    linalg.yield %r : i8
  } -> tensor<32xi8>
  return %two, %none : tensor<32xi8>, tensor<32xi8>
}

// -----

// What follows the sum must be what a transfer does; else the op stays as it
// was, and a remark says why.
// CHECK-LABEL: func.func @square
// CHECK-NOT: tile.contract
// CHECK: linalg.generic
// WHY: [Missed] Sum {{.*}} Reason="systolic:gemmini: its epilogue needs a vector unit
#each = affine_map<(c) -> (c)>
func.func @square(%x: tensor<32xi8>, %y: tensor<32xi8>) -> tensor<32xi8> {
  %scale = arith.constant 0.125 : f32
  %least = arith.constant -128.0 : f32
  %most = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<32xi8>
  %z = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<32xi8>, tensor<32xi8>) outs(%e : tensor<32xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %af = arith.sitofp %a : i8 to f32
    %as = arith.mulf %af, %scale : f32
    %bf = arith.sitofp %b : i8 to f32
    %bs = arith.mulf %bf, %scale : f32
    %sum = arith.addf %as, %bs : f32
    %square = arith.mulf %sum, %sum : f32
    %round = math.roundeven %square : f32
    %low = arith.maxnumf %round, %least : f32
    %high = arith.minnumf %low, %most : f32
    %r = arith.fptosi %high : f32 to i8
    linalg.yield %r : i8
  } -> tensor<32xi8>
  return %z : tensor<32xi8>
}

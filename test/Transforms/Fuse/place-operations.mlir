// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-place-operations=devices=systolic:tpu-128 | FileCheck %s
// RUN: ashlar-opt %s --ashlar-place-operations=devices=systolic:tpu-128 --remark-format=emitRemark --remarks-filter=place -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: ashlar-opt %s --ashlar-place-operations=devices=systolic:gemmini+systolic:tpu-128 | FileCheck %s --check-prefix=SECOND
// RUN: not ashlar-opt %s --ashlar-place-operations=devices=systolic:tpu-9 2>&1 | FileCheck %s --check-prefix=PRESET
// RUN: not ashlar-opt %s --ashlar-place-operations=devices=cpu:x86-64 2>&1 | FileCheck %s --check-prefix=HOST

// What a device computes gets its number, the first of those that can; a remark
// says why the rest stays.
// CHECK-LABEL: func.func @both
// CHECK: tile.contract a(%arg0 {{.*}} {device = 1 : i64
// CHECK-NOT: device
// SECOND-LABEL: func.func @both
// SECOND: tile.contract a(%arg0 {{.*}} {device = 2 : i64
// WHY: [Passed] Placed {{.*}} Target=systolic:tpu-128
// WHY: [Missed] Placed {{.*}} Reason="systolic:tpu-128: a is of f64"
// PRESET: error: devices=systolic:tpu-9: 'tpu-9' is not a preset of systolic; it has
// HOST: error: devices=cpu:x86-64: expected a device that stands beside a host, found cpu:x86-64
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @both(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>, %u: tensor<8x8xf64>) -> (tensor<64x64xf32>, tensor<8x8xf64>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = tile.contract a(%x : tensor<64x64xbf16>) b(%w : tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 64, 64>, reduced = array<i64: 64>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<64x64xf32>
  %f = tensor.empty() : tensor<8x8xf64>
  %z = tile.contract a(%u : tensor<8x8xf64>) b(%u : tensor<8x8xf64>) outs(%f : tensor<8x8xf64>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 8, 8>, reduced = array<i64: 8>} {
  ^bb0(%sum: f64):
    tile.yield %sum : f64
  } -> tensor<8x8xf64>
  return %y, %z : tensor<64x64xf32>, tensor<8x8xf64>
}

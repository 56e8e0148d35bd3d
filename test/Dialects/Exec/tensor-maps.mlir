// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 32], strides [2, 128], box[16, 32], swizzle 32>]
exec.kernel @k : (memref<32x64xbf16>) -> memref<32x8xbf16>
    {tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 32], strides [2, 128], box [16, 32], swizzle 32>]}

// -----

// expected-error @below {{expected tensor maps of its 2 bindings, found one of binding 2}}
exec.kernel @k : (memref<32x64xbf16>) -> memref<32x8xbf16>
    {tensor_maps = [#exec.tensor_map<2 : bf16, sizes [64, 32], strides [2, 128], box [16, 32], swizzle 32>]}

// -----

exec.kernel @k : (memref<32x64xbf16>) -> memref<32x8xbf16>
    // expected-error @below {{expected elements of 'bf16' side by side, found a stride of 4 bytes}}
    {tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 32], strides [4, 128], box [16, 32], swizzle 32>]}

// -----

exec.kernel @k : (memref<32x64xbf16>) -> memref<32x8xbf16>
    // expected-error @below {{expected sizes, strides and a box of one to five dims}}
    {tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 32], strides [2], box [16, 32], swizzle 32>]}

// -----

exec.kernel @k : (memref<32x64xbf16>) -> memref<32x8xbf16>
    // expected-error @below {{expected a swizzle of 0, 32, 64 or 128 bytes, found 16}}
    {tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 32], strides [2, 128], box [16, 32], swizzle 16>]}

// -----

// A map of every second row and column of an image.
// CHECK: tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 56, 56], strides [2, 128, 7168], box[64, 15, 15], steps[1, 2, 2], swizzle 128>]
exec.kernel @k : (memref<56x56x64xbf16>) -> memref<32x8xbf16>
    {tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 56, 56], strides [2, 128, 7168], box [64, 15, 15], steps [1, 2, 2], swizzle 128>]}

// -----

exec.kernel @k : (memref<56x56x64xbf16>) -> memref<32x8xbf16>
    // expected-error @below {{expected a step of 1 to 8 for each dim, or none}}
    {tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, 56, 56], strides [2, 128, 7168], box [64, 15, 15], steps [1, 2, 9], swizzle 128>]}

// -----

// A map of a tensor whose sizes a caller chooses.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-DAG: #[[BYTES:.*]] = affine_map<()[s0] -> (s0 * 128)>
// CHECK: tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, <#[[ROWS]], largest = 96>, 4], strides [2, 128, <#[[BYTES]], largest = 12288>], box[64, 32, 1], swizzle 128>]
exec.kernel @k : (memref<4x96x64xbf16>) -> memref<32x8xbf16>
    {tensor_maps = [#exec.tensor_map<0 : bf16, sizes [64, <affine_map<()[s0] -> (s0)>, largest = 96>, 4], strides [2, 128, <affine_map<()[s0] -> (s0 * 128)>, largest = 12288>], box [64, 32, 1], swizzle 128>]}

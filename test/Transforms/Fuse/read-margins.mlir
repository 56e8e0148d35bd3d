// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --ashlar-read-margins=machine=cuda:sm_90a --remark-format=emitRemark --remarks-filter="padding" 2> %t.said | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY --input-file=%t.said
// RUN: ashlar-opt %s --split-input-file --ashlar-read-margins=machine=cuda:sm_80 | FileCheck %s --check-prefix=THREADS
// RUN: ashlar-opt %s --split-input-file --ashlar-read-margins | FileCheck %s --check-prefix=THREADS

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// The engine reads what is there, and zeros around it. No other machine's does.
// CHECK: #[[MOVED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 - 1, d2 - 1, d3)>
// CHECK-LABEL: func.func @window
// CHECK-SAME: (%[[X:.*]]: tensor<8x56x56x256xbf16>
// CHECK: %[[P:.*]] = tile.decode %[[X]] maps [#[[MOVED]]] padded : tensor<8x56x56x256xbf16> -> tensor<8x58x57x256xbf16> {
// CHECK-NEXT: ^bb0(%[[E:.*]]: bf16, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT: tile.decoded %[[E]] : bf16
// CHECK: tile.contract a(%[[P]] :
// CHECK-NOT: tensor.pad
// WHY: remark: [Passed] Padding | {{.*}}Function=window | BytesSaved=696320
// THREADS-LABEL: func.func @window
// THREADS: tensor.pad
// THREADS-NOT: tile.decode
func.func @window(%x: tensor<8x56x56x256xbf16>, %w: tensor<3x3x256x256xbf16>) -> tensor<8x28x28x256xbf16> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x56x56x256xbf16> to tensor<8x58x57x256xbf16>
  %e = tensor.empty() : tensor<8x28x28x256xbf16>
  %y = tile.contract a(%p : tensor<8x58x57x256xbf16>) b(%w : tensor<3x3x256x256xbf16>) outs(%e : tensor<8x28x28x256xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 8, 28, 28, 256>, reduced = array<i64: 3, 3, 256>} {
  ^bb0(%t: f32):
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<8x28x28x256xbf16>
  return %y : tensor<8x28x28x256xbf16>
}

// -----

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>

// In memory are: margins of ones, those that something else reads, and both of
// a tensor of which one is such.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: tensor.pad
// CHECK-NOT: tile.decode
func.func @others(%u: tensor<8x56x56x256xbf16>, %v: tensor<8x56x56x256xbf16>, %x: tensor<8x56x56x256xbf16>, %w: tensor<3x3x256x256xbf16>)
    -> (tensor<8x56x56x256xbf16>, tensor<8x56x56x256xbf16>, tensor<8x58x58x256xbf16>, tensor<8x56x56x256xbf16>, tensor<8x59x56x256xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %one = arith.constant 1.0 : bf16
  %e = tensor.empty() : tensor<8x56x56x256xbf16>
  %ones = tensor.pad %u low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %one : bf16
  } : tensor<8x56x56x256xbf16> to tensor<8x58x58x256xbf16>
  %y0 = tile.contract a(%ones : tensor<8x58x58x256xbf16>) b(%w : tensor<3x3x256x256xbf16>) outs(%e : tensor<8x56x56x256xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 8, 56, 56, 256>, reduced = array<i64: 3, 3, 256>} {
  ^bb0(%t: f32):
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<8x56x56x256xbf16>
  %read = tensor.pad %v low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x56x56x256xbf16> to tensor<8x58x58x256xbf16>
  %y1 = tile.contract a(%read : tensor<8x58x58x256xbf16>) b(%w : tensor<3x3x256x256xbf16>) outs(%e : tensor<8x56x56x256xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 8, 56, 56, 256>, reduced = array<i64: 3, 3, 256>} {
  ^bb0(%t: f32):
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<8x56x56x256xbf16>
  %e2 = tensor.empty() : tensor<8x58x58x256xbf16>
  %n = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%read : tensor<8x58x58x256xbf16>) outs(%e2 : tensor<8x58x58x256xbf16>) {
  ^bb0(%t: bf16, %o: bf16):
    %m = arith.negf %t : bf16
    linalg.yield %m : bf16
  } -> tensor<8x58x58x256xbf16>
  %second = tensor.pad %x low[0, 3, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x56x56x256xbf16> to tensor<8x59x56x256xbf16>
  %first = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x56x56x256xbf16> to tensor<8x58x58x256xbf16>
  %y2 = tile.contract a(%first : tensor<8x58x58x256xbf16>) b(%w : tensor<3x3x256x256xbf16>) outs(%e : tensor<8x56x56x256xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 8, 56, 56, 256>, reduced = array<i64: 3, 3, 256>} {
  ^bb0(%t: f32):
    %z = arith.truncf %t : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<8x56x56x256xbf16>
  return %y0, %y1, %n, %y2, %second : tensor<8x56x56x256xbf16>, tensor<8x56x56x256xbf16>, tensor<8x58x58x256xbf16>, tensor<8x56x56x256xbf16>, tensor<8x59x56x256xbf16>
}

// -----

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// Around a part of a tensor lies the rest of it.
// CHECK-LABEL: func.func @part
// CHECK: tensor.pad
// CHECK-NOT: tile.decode
func.func @part(%x: tensor<8x64x64x256xbf16>, %w: tensor<3x3x256x256xbf16>) -> tensor<8x56x56x256xbf16> {
  %zero = arith.constant 0.0 : bf16
  %t = tensor.extract_slice %x[0, 4, 4, 0] [8, 56, 56, 256] [1, 1, 1, 1] : tensor<8x64x64x256xbf16> to tensor<8x56x56x256xbf16>
  %p = tensor.pad %t low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x56x56x256xbf16> to tensor<8x58x58x256xbf16>
  %e = tensor.empty() : tensor<8x56x56x256xbf16>
  %y = tile.contract a(%p : tensor<8x58x58x256xbf16>) b(%w : tensor<3x3x256x256xbf16>) outs(%e : tensor<8x56x56x256xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 8, 56, 56, 256>, reduced = array<i64: 3, 3, 256>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<8x56x56x256xbf16>
  return %y : tensor<8x56x56x256xbf16>
}

// -----

#a = affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>
#b = affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>
#y = affine_map<(n, h, w, o) -> (n, h, w, o)>

// What a result begins as is in memory.
// CHECK-LABEL: func.func @begins
// CHECK: tensor.pad
// CHECK-NOT: tile.decode
func.func @begins(%x: tensor<8x58x58x256xbf16>, %t: tensor<8x54x54x256xbf16>, %w: tensor<3x3x256x256xbf16>) -> tensor<8x56x56x256xbf16> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %t low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<8x54x54x256xbf16> to tensor<8x56x56x256xbf16>
  %y = tile.contract a(%x : tensor<8x58x58x256xbf16>) b(%w : tensor<3x3x256x256xbf16>) outs(%p : tensor<8x56x56x256xbf16>) attributes {
    maps = [#a, #b, #y], parallel = array<i64: 8, 56, 56, 256>, reduced = array<i64: 3, 3, 256>} {
  ^bb0(%s: f32):
    %z = arith.truncf %s : f32 to bf16
    tile.yield %z : bf16
  } -> tensor<8x56x56x256xbf16>
  return %y : tensor<8x56x56x256xbf16>
}

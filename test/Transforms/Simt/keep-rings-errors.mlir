// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-keep-rings --verify-diagnostics

// Whoever asks for the number of the first part expects a range of parts.
// expected-note @below {{the kernel is here}}
func.func @first(%x: memref<64x32xbf16>, %slots: memref<1024xbf16, 3>, %words: memref<4xi64, 3>, %from: index, %to: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected the numbers of parts to be bounds of loops over them, in a kernel that takes tensor maps}}
  %next = arith.addi %from, %c0 : index
  tile.thread_box_copy %x[%next, %c0], %slots[%c0], %words[%c0] map 0 : memref<64x32xbf16>, memref<1024xbf16, 3>, memref<4xi64, 3>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics \
// RUN:   --ashlar-verify-streams=machine=tpu-128

// What a stream does in the right order is fine.
func.func @copy(%x: memref<4x128xbf16>, %y: memref<4x128xbf16>) {
  systolic.region "copy" other 0
  systolic.config_load 0 stride = 256 block_stride = 128
  systolic.config_store stride = 256
  systolic.mvin 0, %x[0] to scratchpad[0] 4 x 128 : memref<4x128xbf16>
  systolic.sync [load] before [store]
  systolic.mvout scratchpad[0] 4 x 128 to %y[0] : memref<4x128xbf16>
  return
}

// -----

// expected-error@+1 {{instruction 3 (mvout): row 0 of the scratchpad may still be written by the load queue: a sync is missing}}
func.func @hazard(%x: memref<4x128xbf16>, %y: memref<4x128xbf16>) {
  systolic.config_load 0 stride = 256 block_stride = 128
  systolic.config_store stride = 256
  systolic.mvin 0, %x[0] to scratchpad[0] 4 x 128 : memref<4x128xbf16>
  systolic.mvout scratchpad[0] 4 x 128 to %y[0] : memref<4x128xbf16>
  return
}

// -----

// expected-error@+1 {{instruction 1 (mvout): row 5 of the scratchpad was never written in column 0}}
func.func @unwritten(%y: memref<4x128xbf16>) {
  systolic.config_store stride = 256
  systolic.mvout scratchpad[5] 4 x 128 to %y[0] : memref<4x128xbf16>
  return
}

// -----

// expected-error@+1 {{instruction 1 (mvin): chip: rows 49150 to 49153 are not all among the 49152 of the scratchpad}}
func.func @range(%x: memref<4x128xbf16>) {
  systolic.config_load 0 stride = 256 block_stride = 128
  systolic.mvin 0, %x[0] to scratchpad[49150] 4 x 128 : memref<4x128xbf16>
  return
}

// -----

func.func @other(%x: memref<4x128xbf16>) {
  // expected-error@+1 {{is no command of a stream}}
  memref.dealloc %x : memref<4x128xbf16>
  return
}

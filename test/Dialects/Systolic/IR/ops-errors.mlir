// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --split-input-file --verify-diagnostics

// A row has 29 bits.
func.func @row(%x: memref<4xbf16>) {
  // expected-error@+1 {{expected a row below 536870911, found 536870911}}
  systolic.mvin 0, %x[0] to scratchpad[536870911] 1 x 4 : memref<4xbf16>
  return
}

// -----

func.func @memory(%x: memref<4xbf16>) {
  // expected-error@+1 {{expected 'scratchpad', 'accumulator' or 'none'}}
  systolic.mvin 0, %x[0] to registers[0] 1 x 4 : memref<4xbf16>
  return
}

// -----

// Sizes have 16 bits, and a matrix that is there has rows.
func.func @sizes(%x: memref<4xbf16>) {
  // expected-error@+1 {{sizes: expected 1 to 65535, found 0}}
  systolic.mvin 0, %x[0] to scratchpad[0] 0 x 4 : memref<4xbf16>
  return
}

// -----

func.func @nowhere(%x: memref<4xbf16>) {
  // expected-error@+1 {{place: expected a place, found none}}
  systolic.mvin 0, %x[0] to none 1 x 4 : memref<4xbf16>
  return
}

// -----

func.func @which() {
  // expected-error@+1 {{id: expected 0 to 2, found 3}}
  systolic.config_load 3 stride = 2 block_stride = 1
  return
}

// -----

// Only what moves bytes has steps of bytes.
func.func @bytes() {
  // expected-error@+1 {{bytes: expected 0 to 0, found 4}}
  systolic.config_stream a level = 0 count = 2 rows = 1 {bytes = 4 : i64}
  return
}

// -----

func.func @queue() {
  // expected-error@+1 {{there is no queue 'fetch'}}
  systolic.sync [fetch] before [load]
  return
}

// -----

func.func @operands() {
  // expected-error@+1 {{right operand: expected a place, found none}}
  systolic.vector add accumulator[0] 8 x 128 of accumulator[8]
  return
}

// -----

func.func @number() {
  // expected-error@+1 {{immediate: expected a number, found none}}
  systolic.vector fill accumulator[0] 8 x 128
  return
}

// -----

// A command outside of loops has nothing to advance by.
func.func @advance() {
  // expected-error@+1 {{advance: names loop 0; there are 0 around it}}
  systolic.compute scratchpad[0] 1 x 1, none 0 x 0 {advance = array<i64: 0, 1, 0>}
  return
}

// -----

func.func @triples() {
  systolic.loop 2 {
    // expected-error@+1 {{advance: expected triples, found 2 numbers}}
    systolic.compute scratchpad[0] 1 x 1, none 0 x 0 {advance = array<i64: 0, 1>}
  }
  return
}

// -----

func.func @region() {
  // expected-note @below {{the loop is here}}
  systolic.loop 2 {
    // expected-error@+1 {{expected outside of loops}}
    systolic.region "x" other 0
  }
  return
}

// -----

func.func @loop() {
  // expected-error@+1 {{count: expected 1 to 134217728, found 0}}
  systolic.loop 0 {
  }
  return
}

// -----

// Memory is what the caller gave.
func.func @made() {
  // expected-note @below {{computed here}}
  %x = memref.alloc() : memref<4xbf16>
  // expected-error @below {{memory: expected an argument of the function, found a result}}
  systolic.mvin 0, %x[0] to scratchpad[0] 1 x 4 : memref<4xbf16>
  return
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_SYSTOLIC_PASSES_TD
#define ASHLAR_TARGETS_SYSTOLIC_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseDataflowsPass
    : Pass<"ashlar-choose-dataflows", "::mlir::func::FuncOp"> {
  let summary = "Choose strategies by the cycles of a systolic machine";
  let description = [{
    Before: a kernel on memrefs whose body is `tile.contract`s. After: each has
    a strategy, whatever it had before: of those that the search tries the one
    whose stream takes the fewest cycles, in the order of the kernel. Its levels
    are tiles of rows, columns and terms, its hops rings of the scratchpad, its
    unit says what stays; `docs/systolic.md` describes the hints. Refuses, with
    an error at the contraction, what the machine does not compute.

    ```mlir
    tile.contract ... attributes {parallel = array<i64: 512, 768>,
      reduced = array<i64: 768>, ...}
    // becomes
    tile.contract ... attributes {parallel = array<i64: 512, 768>,
      reduced = array<i64: 768>, strategy = #tile.strategy<"array" m [0] n [1]
      k [2], loop [256, 128 | _] order [0, 1], a: ring scratchpad at 0 slots 2
      by load, b: ring scratchpad at 0 slots 2 by load, acc accumulator,
      hints {step_cycles = 1200 : i64}>, ...}
    ```
  }];
  let options = [Option<"machine", "machine", "std::string", "\"tpu-128\"",
                        "A preset of the target systolic">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def LowerToSystolicPass
    : Pass<"ashlar-lower-to-systolic", "::mlir::func::FuncOp"> {
  let summary = "Write a contraction as the commands of a systolic machine";
  let description = [{
    Before: a kernel on memrefs whose body is one `tile.contract`. After: the
    body is a stream of ops of the `systolic` dialect, which uses the memrefs as
    memory. How the contraction is cut is what its strategy says, or, where it
    has none, what `ashlar-choose-dataflows` chooses. Refuses, with an error at
    the contraction, what the machine does not compute.

    ```mlir
    func.func @product(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>,
                       %c: memref<64x64xbf16>) {
      tile.contract a(%a : memref<64x64xbf16>) b(%b : memref<64x64xbf16>) ...
      return
    }
    // becomes
    func.func @product(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>,
                       %c: memref<64x64xbf16>) {
      systolic.region "product" contraction 262144
      systolic.config_load 0 stride = 128 block_stride = 128
      systolic.mvin 0, %a[0] to scratchpad[0] 64 x 64 : memref<64x64xbf16>
      ...
      return
    }
    ```
  }];
  let options = [Option<"machine", "machine", "std::string", "\"tpu-128\"",
                        "A preset of the target systolic">];
  let dependentDialects = ["::ashlar::systolicir::SystolicDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def VerifyStreamsPass
    : Pass<"ashlar-verify-streams", "::mlir::func::FuncOp"> {
  let summary = "Check a stream against its machine";
  let description = [{
    Issues the commands of a function of `systolic` ops to the machine, on
    memories full of zeros: every address, size and queue is checked, and
    hazards and reads of what was never written are errors. Changes nothing.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"tpu-128\"",
                        "A preset of the target systolic">];
}

#endif // ASHLAR_TARGETS_SYSTOLIC_PASSES_TD

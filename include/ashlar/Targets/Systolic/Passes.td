// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_SYSTOLIC_PASSES_TD
#define ASHLAR_TARGETS_SYSTOLIC_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToSystolicPass
    : Pass<"ashlar-lower-to-systolic", "::mlir::func::FuncOp"> {
  let summary = "Write a contraction as the commands of a systolic machine";
  let description = [{
    Before: a kernel on memrefs whose body is one `tile.contract`. After: the
    body is a stream of ops of the `systolic` dialect, which uses the memrefs as
    memory. How the contraction is cut is chosen by the machine's own count of
    cycles. Refuses, with an error at the contraction, what the machine does not
    compute.

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
  let dependentDialects = ["::ashlar::systolicir::SystolicDialect"];
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

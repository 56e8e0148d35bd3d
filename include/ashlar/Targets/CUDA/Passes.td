// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_CUDA_PASSES_TD
#define ASHLAR_TARGETS_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def ThreadsToNVVMPass
    : Pass<"ashlar-threads-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Say threads and barriers as PTX's registers and instructions";
  let description = [{
    Before: `gpu.thread_id x` and `gpu.barrier`, in functions of the dialect
    func. After: `nvvm.read.ptx.sreg.tid.x` and `nvvm.barrier0`. Upstream's
    conversion takes modules of the dialect gpu alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // ASHLAR_TARGETS_CUDA_PASSES_TD

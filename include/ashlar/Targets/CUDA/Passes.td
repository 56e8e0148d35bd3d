// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_CUDA_PASSES_TD
#define ASHLAR_TARGETS_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def ThreadsToNVVMPass
    : Pass<"ashlar-threads-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Say what threads do together as PTX's instructions";
  let description = [{
    Before: `gpu.thread_id x`, `gpu.barrier` and `gpu.shuffle xor` of numbers,
    in functions of the dialect func, and what tile has for threads. After:
    `nvvm.read.ptx.sreg.tid.x`, `nvvm.barrier0` and `nvvm.shfl.sync bfly` of
    words of 32 bits; `cp.async`; `ldmatrix` and `mma.sync` for steps whose
    fragments are a warp's, `wgmma` where they are four warps'; `mbarrier` for
    phases and `cp.async.bulk.tensor` for boxes of tensors, whose maps are
    symbols that the entry's arguments take the place of. Upstream's
    conversion takes modules of the dialect gpu alone.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // ASHLAR_TARGETS_CUDA_PASSES_TD

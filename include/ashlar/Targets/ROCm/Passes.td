// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_ROCM_PASSES_TD
#define ASHLAR_TARGETS_ROCM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ThreadsToROCDLPass
    : Pass<"ashlar-threads-to-rocdl", "::mlir::ModuleOp"> {
  let summary = "Say what threads do together as AMD's instructions";
  let description = [{
    Before: `gpu.thread_id x`, `gpu.barrier` and `gpu.shuffle xor` of numbers,
    in functions of the dialect func, and what tile has for threads. After:
    `rocdl.workitem.id.x`; `rocdl.s.barrier` between fences of the workgroup;
    for words of 32 bits DPP, where the processor reads the lane that way,
    otherwise `rocdl.ds_swizzle` and `rocdl.ds_bpermute`. Upstream's conversion
    takes modules of the dialect gpu alone.
  }];
  let options = [Option<"processor", "processor", "std::string",
                        "\"gfx942\"", "LLVM's name of the chip">,
                 Option<"roundsToTF32", "rounds-to-tf32", "bool", "false",
                        "Factors of f32 may be rounded to TF32">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // ASHLAR_TARGETS_ROCM_PASSES_TD

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_OPENCL_PASSES_TD
#define ASHLAR_TARGETS_OPENCL_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerThreadsPass
    : Pass<"ashlar-lower-threads", "::mlir::ModuleOp"> {
  let summary = "Say threads and barriers as OpenCL's functions";
  let description = [{
    Before: `gpu.thread_id x`, `gpu.barrier`, `gpu.shuffle xor` and steps of
    fragments. After: calls of `get_local_id`, `barrier`,
    `sub_group_shuffle_xor` and `intel_sub_group_f16_f16_matrix_mad_k16`, or
    that of bf16, by their mangled names.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // ASHLAR_TARGETS_OPENCL_PASSES_TD

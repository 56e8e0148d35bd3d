// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_OPENCL_PASSES_TD
#define ASHLAR_TARGETS_OPENCL_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerThreadsPass
    : Pass<"ashlar-lower-threads", "::mlir::ModuleOp"> {
  let summary = "Say threads and barriers as OpenCL's functions";
  let description = [{
    Before: `gpu.thread_id x` and `gpu.barrier`. After: calls of `get_local_id`
    and `barrier` by their mangled names.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

#endif // ASHLAR_TARGETS_OPENCL_PASSES_TD

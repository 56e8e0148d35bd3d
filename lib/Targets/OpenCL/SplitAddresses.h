// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver's compiler unrolls loops whose length it knows, and keeps what no
// outer loop changes: of an address base + (i + lane) * stride, where the base
// changes there, one offset for each i. As (base + lane * stride) + i * stride
// only constants are left of it.
#ifndef ASHLAR_LIB_TARGETS_OPENCL_SPLITADDRESSES_H
#define ASHLAR_LIB_TARGETS_OPENCL_SPLITADDRESSES_H

#include "llvm/IR/PassManager.h"

namespace ashlar::opencl {

/// Adds in front of an innermost loop what neither it nor the loop around it
/// changes, where the base is another one in each turn of that.
struct SplitAddressesPass : llvm::PassInfoMixin<SplitAddressesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_SPLITADDRESSES_H

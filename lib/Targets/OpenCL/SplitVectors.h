// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_OPENCL_SPLITVECTORS_H
#define ASHLAR_LIB_TARGETS_OPENCL_SPLITVECTORS_H

#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace ashlar::opencl {

/// Cuts vectors that SPIR-V does not have into those of 16, 8, 4 and 2 elements
/// and single ones. Vectors of three are cut as well: one in memory takes the
/// place of four. Fails, naming it, at what it does not know.
llvm::Error splitVectors(llvm::Function &function);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_SPLITVECTORS_H

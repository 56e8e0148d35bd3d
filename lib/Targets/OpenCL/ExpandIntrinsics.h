// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_OPENCL_EXPANDINTRINSICS_H
#define ASHLAR_LIB_TARGETS_OPENCL_EXPANDINTRINSICS_H

#include "llvm/IR/Function.h"

namespace ashlar::opencl {

/// Writes out what LLVM's SPIR-V back end has no form for, or one that means
/// something else:
///   - `maximum` and `minimum`, of two values or of a vector, which it takes
///     for those that drop a NaN;
///   - `fmuladd`, which is one rounding here: apart, its halves take twice the
///     time (measured on Intel's device for processors);
///   - prefetches and lifetimes, which are left out;
///   - a stack slot of n elements, which becomes one of an array.
void expandIntrinsics(llvm::Function &function);

/// Masked loads and stores, gathers and scatters as scalars' and, where all
/// lanes take part, vectors' own. Where a mask is known that costs no branch.
void expandMasks(llvm::Function &function);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_EXPANDINTRINSICS_H

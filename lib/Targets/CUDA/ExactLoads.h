// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CUDA_EXACTLOADS_H
#define ASHLAR_LIB_TARGETS_CUDA_EXACTLOADS_H

#include "llvm/IR/Module.h"

namespace ashlar::cuda {

/// Loads of vectors whose mask is constant, or whose length is no power of two,
/// become loads of what they take and no more. LLVM's code generator would load
/// a whole vector where its alignment allows that: what lies behind the end of
/// a tensor.
void makeLoadsExact(llvm::Module &module);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_EXACTLOADS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CUDA_WIDEPRODUCTS_H
#define ASHLAR_LIB_TARGETS_CUDA_WIDEPRODUCTS_H

#include "llvm/IR/Module.h"

namespace ashlar::cuda {

/// In a kernel with steps of warpgroups, sums and products of 16-bit floats
/// become those of f32 that are rounded, which is the same, and was so before
/// LLVM narrowed them. ptxas 12.9 and 13.0 pair narrow ones of rounded sums
/// with each other across steps under way, and then serialize these (C7514);
/// pairs of roundings are roundPairs'.
void widenProducts(llvm::Module &module);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_WIDEPRODUCTS_H

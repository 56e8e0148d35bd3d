// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CUDA_WIDEPRODUCTS_H
#define ASHLAR_LIB_TARGETS_CUDA_WIDEPRODUCTS_H

#include "llvm/IR/Module.h"

namespace ashlar::cuda {

/// In a kernel with steps of warpgroups, sums and products of 16-bit floats
/// become those of f32 that are rounded, which is the same, and was so before
/// LLVM narrowed them; and what is rounded to f16 and goes on in f32 is
/// multiplied by one before. ptxas 12.9 and 13.0 pair narrow products, and
/// roundings to f16, of sums across steps under way, and then serialize these
/// (C7514).
void widenProducts(llvm::Module &module);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_WIDEPRODUCTS_H

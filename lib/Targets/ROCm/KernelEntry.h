// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_ROCM_KERNELENTRY_H
#define ASHLAR_LIB_TARGETS_ROCM_KERNELENTRY_H

#include "llvm/IR/Module.h"

namespace ashlar::rocm {

/// Adds the function that a launch of workgroups of so many threads begins and
/// names it `symbol`, in place of the body, which it calls; arguments:
/// ashlar/runtime/gpu_abi.h.
llvm::Function &addKernelEntry(llvm::Module &module, llvm::StringRef symbol,
                               int64_t threads);

/// A thread's own memory has an address space: what allocates in the one that
/// all pointers of the body are of is moved there.
void moveAllocations(llvm::Module &module);

} // namespace ashlar::rocm

#endif // ASHLAR_LIB_TARGETS_ROCM_KERNELENTRY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_OPENCL_KERNELENTRY_H
#define ASHLAR_LIB_TARGETS_OPENCL_KERNELENTRY_H

#include "llvm/IR/Module.h"

namespace ashlar::opencl {

/// Adds the kernel that the runtime launches: ashlar/runtime/opencl_abi.h, or
/// gpu_abi.h where memory is addresses and not handles with offsets. A
/// workgroup of so many threads finds its share of the groups and its scratch
/// and calls the body, the function `symbol` of pointers, numbers, scratch,
/// first group and end, which is inlined.
void addKernelEntry(llvm::Module &module, llvm::StringRef symbol,
                    int64_t threads, bool hasOffsets);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_KERNELENTRY_H

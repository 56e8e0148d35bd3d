// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_OPENCL_KERNELENTRY_H
#define ASHLAR_LIB_TARGETS_OPENCL_KERNELENTRY_H

#include "llvm/IR/Module.h"

namespace ashlar::opencl {

struct EntryForm {
  int64_t threads;  ///< of a workgroup
  int64_t subgroup; ///< lanes that it must have; 0: any number
  /// ashlar/runtime/opencl_abi.h; false: memory is addresses and not handles
  /// with offsets, gpu_abi.h.
  bool hasOffsets;
};

/// Adds the kernel that the runtime launches. A workgroup finds its share of
/// the groups and its scratch and calls the body, the function `symbol` of
/// pointers, numbers, scratch, first group and end, which is inlined.
void addKernelEntry(llvm::Module &module, llvm::StringRef symbol,
                    const EntryForm &form);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_KERNELENTRY_H

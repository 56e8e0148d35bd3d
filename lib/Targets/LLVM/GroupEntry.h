// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_LLVM_GROUPENTRY_H
#define ASHLAR_LIB_TARGETS_LLVM_GROUPENTRY_H

#include "llvm/IR/IRBuilder.h"
#include <functional>

namespace ashlar {

/// How a device of workgroups is launched.
struct GroupEntry {
  llvm::CallingConv::ID convention;
  /// A buffer comes with the bytes from its beginning to the binding's, and so
  /// does scratch: the device's memory is handles, not addresses.
  bool hasOffsets;
  /// This workgroup's number, and how many there are: i64.
  std::function<llvm::Value *(llvm::IRBuilder<> &)> group, groups;
  /// Behind all else: so many blocks of 128 bytes, by value.
  unsigned maps = 0;
};

/// Adds the function that a device launches and calls it `symbol`; its
/// arguments stand in ashlar/runtime/opencl_abi.h and gpu_abi.h. A workgroup
/// finds its share of the groups and its scratch and calls the body, the
/// function of that name before, of pointers, numbers, scratch, first group and
/// end, which is inlined; with maps, of its own number and that of all groups.
llvm::Function &addGroupEntry(llvm::Module &module, llvm::StringRef symbol,
                              const GroupEntry &how);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_GROUPENTRY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_ROCM_CODEOBJECT_H
#define ASHLAR_LIB_TARGETS_ROCM_CODEOBJECT_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Targets/Target.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar::rocm {

/// What a driver loads: a shared object whose note describes its kernels.
struct CodeObject {
  std::string bytes;
  /// By kernel symbol, what the note says of it; occupancy is not in it.
  llvm::StringMap<KernelResources> resources;
  llvm::StringMap<uint64_t> codeBytes;
};

/// Links objects of a kernel each, in order.
llvm::Expected<CodeObject>
linkCodeObject(llvm::ArrayRef<llvm::StringRef> objects,
               const MachineModel &machine);

/// What the note of one kernel's object says of it.
llvm::Expected<KernelResources> resourcesOf(llvm::StringRef object);

} // namespace ashlar::rocm

#endif // ASHLAR_LIB_TARGETS_ROCM_CODEOBJECT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_LINKIMAGE_H
#define ASHLAR_LIB_TARGETS_CPU_LINKIMAGE_H

#include "CompileKernel.h"

namespace ashlar::cpu {

/// Links the objects, in order, into one position-independent shared object
/// that needs libm.so.6 for what they leave undefined.
llvm::Expected<std::string> linkImage(llvm::ArrayRef<KernelObject> objects,
                                      const MachineModel &machine);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_LINKIMAGE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_LINKIMAGE_H
#define ASHLAR_LIB_TARGETS_CPU_LINKIMAGE_H

#include "CompileKernel.h"

namespace ashlar::cpu {

/// Links the objects, in order, into one position-independent shared object
/// that needs libm.so.6 for what they leave undefined.
llvm::Expected<std::string> linkImage(llvm::ArrayRef<KernelObject> objects,
                                      const MachineModel &machine);

/// What is part of every process; and the functions of C's <math.h> that
/// upstream's lowerings call, for double and with an f for float; sincos, which
/// every Linux has besides, is what LLVM makes of both.
bool isLibc(llvm::StringRef symbol);
bool isLibm(llvm::StringRef symbol);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_LINKIMAGE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_COMPRESSLOOPS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_COMPRESSLOOPS_H

#include "systolic/Image.h"

namespace ashlar::systolic {

/// The same commands, issued by loops where sequences of them repeat with
/// registers that move by constant steps.
Vector<Command> compressLoops(const Vector<Command> &commands);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_COMPRESSLOOPS_H

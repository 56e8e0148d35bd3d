// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_REFERENCE_TARGETS_H
#define ASHLAR_TARGETS_REFERENCE_TARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar::reference {

TargetInfo referenceTargetInfo();

} // namespace ashlar::reference

#endif // ASHLAR_TARGETS_REFERENCE_TARGETS_H

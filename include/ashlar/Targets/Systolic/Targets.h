// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_SYSTOLIC_TARGETS_H
#define ASHLAR_TARGETS_SYSTOLIC_TARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar::systolic {

TargetInfo systolicTargetInfo();

} // namespace ashlar::systolic

#endif // ASHLAR_TARGETS_SYSTOLIC_TARGETS_H

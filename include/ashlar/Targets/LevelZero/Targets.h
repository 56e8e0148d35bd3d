// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_LEVELZERO_TARGETS_H
#define ASHLAR_TARGETS_LEVELZERO_TARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar::levelzero {

TargetInfo levelZeroTargetInfo();

} // namespace ashlar::levelzero

#endif // ASHLAR_TARGETS_LEVELZERO_TARGETS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_CPU_TARGETS_H
#define ASHLAR_TARGETS_CPU_TARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar::cpu {

TargetInfo cpuTargetInfo();

} // namespace ashlar::cpu

#endif // ASHLAR_TARGETS_CPU_TARGETS_H

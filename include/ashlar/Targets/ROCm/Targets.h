// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_ROCM_TARGETS_H
#define ASHLAR_TARGETS_ROCM_TARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar::rocm {

TargetInfo rocmTargetInfo();

} // namespace ashlar::rocm

#endif // ASHLAR_TARGETS_ROCM_TARGETS_H

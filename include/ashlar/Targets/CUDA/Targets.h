// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_CUDA_TARGETS_H
#define ASHLAR_TARGETS_CUDA_TARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar::cuda {

TargetInfo cudaTargetInfo();

} // namespace ashlar::cuda

#endif // ASHLAR_TARGETS_CUDA_TARGETS_H

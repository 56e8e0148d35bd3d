// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_OPENCL_TARGETS_H
#define ASHLAR_TARGETS_OPENCL_TARGETS_H

#include "ashlar/Targets/Target.h"

namespace ashlar::opencl {

TargetInfo openclTargetInfo();

} // namespace ashlar::opencl

#endif // ASHLAR_TARGETS_OPENCL_TARGETS_H

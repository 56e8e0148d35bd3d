// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CUDA_OCCUPANCY_H
#define ASHLAR_LIB_TARGETS_CUDA_OCCUPANCY_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Targets/Target.h"

namespace ashlar::cuda {

/// Fills in `groups` and `occupancy` of blocks of `threads` threads from the
/// machine's limits; zeros where it states none.
void computeOccupancy(const MachineModel &machine, int64_t threads,
                      KernelResources &resources);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_OCCUPANCY_H

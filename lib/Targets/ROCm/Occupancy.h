// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_ROCM_OCCUPANCY_H
#define ASHLAR_LIB_TARGETS_ROCM_OCCUPANCY_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Targets/Target.h"

namespace ashlar::rocm {

/// Fills in `groups` and `occupancy` of workgroups of `threads` threads from
/// the machine's limits; zeros where it states none.
void computeOccupancy(const MachineModel &machine, int64_t threads,
                      KernelResources &resources);

} // namespace ashlar::rocm

#endif // ASHLAR_LIB_TARGETS_ROCM_OCCUPANCY_H

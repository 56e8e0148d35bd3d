// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_MACHINE_COPYTIME_H
#define ASHLAR_MACHINE_COPYTIME_H

#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// Of `bytes` from the host's memory to a device's, or back, in nanoseconds:
/// over the link of the device, or as fast as the slower of both memories.
double nanosecondsToCopy(int64_t bytes, const MachineModel &host,
                         const MachineModel &device, bool toHost);

} // namespace ashlar

#endif // ASHLAR_MACHINE_COPYTIME_H

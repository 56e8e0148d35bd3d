// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_MACHINE_MAINMEMORY_H
#define ASHLAR_MACHINE_MAINMEMORY_H

#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// What all workers together read of the farthest memory; of a machine that
/// does not say it, one of them.
double mainBytesPerCycle(const MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_MACHINE_MAINMEMORY_H

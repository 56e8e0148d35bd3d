// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_MACHINE_STOREENGINE_H
#define ASHLAR_MACHINE_STOREENGINE_H

#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// Which results leave by: boxes from the nearest memory to the farthest. Null:
/// threads store them.
const CopyEngine *storeEngineOf(const MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_MACHINE_STOREENGINE_H

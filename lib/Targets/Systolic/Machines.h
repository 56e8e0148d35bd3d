// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The presets of the systolic target, and what their streams say of them.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_MACHINES_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_MACHINES_H

#include "ashlar/Machine/MachineModel.h"
#include "llvm/ADT/StringRef.h"

struct ashlar_systolic_machine_t;

namespace ashlar::systolic {

/// The first is the default.
const std::vector<std::string> &presets();
MachineModel machineFor(llvm::StringRef preset);

/// Why there are no streams for a machine, by the field at fault; empty: there
/// are.
std::string checkSystolicMachine(const MachineModel &machine);

/// For the header of an image. The machine has passed checkSystolicMachine.
ashlar_systolic_machine_t streamMachine(const MachineModel &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_MACHINES_H

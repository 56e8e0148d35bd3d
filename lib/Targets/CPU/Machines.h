// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine models of the CPU target: the files in Machines/, which are part
// of the library, and the one of the processor that compiles.
#ifndef ASHLAR_LIB_TARGETS_CPU_MACHINES_H
#define ASHLAR_LIB_TARGETS_CPU_MACHINES_H

#include "ashlar/Machine/MachineModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace ashlar::cpu {

/// "host" first, then the files by name.
const std::vector<std::string> &presets();

/// The model of a preset. "host" is detected.
MachineModel machineFor(llvm::StringRef preset);

/// What is wrong with a model that is to be this target's; empty: nothing.
std::string checkCPUMachine(const MachineModel &machine);

/// What a file says of its own accord; "host" is the template that detection
/// falls back to.
const MachineModel &machineInFile(llvm::StringRef name);
/// The file that describes this processor, in LLVM's spelling; null: none.
const MachineModel *machineDescribing(llvm::StringRef processor);

/// Figures come from the file that describes the processor or else from a
/// template; caches, workers and features from the processor itself. The same
/// on every call, and the same on every run on one machine.
MachineModel detectHost();

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_MACHINES_H

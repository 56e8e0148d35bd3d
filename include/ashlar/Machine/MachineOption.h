// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The option `machine` of passes that read a machine model. In a pipeline they
// are made for the target's; alone, in ashlar-opt, a name says which.
#ifndef ASHLAR_MACHINE_MACHINEOPTION_H
#define ASHLAR_MACHINE_MACHINEOPTION_H

#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/LogicalResult.h"

namespace ashlar {

/// The model of a preset, "TARGET:PRESET"; the error says which there are.
using PresetFinder = llvm::Expected<MachineModel> (*)(llvm::StringRef name);

/// Who knows the targets says how their presets are found, before any pass is
/// run. Without it, the option takes files only.
void setPresetFinder(PresetFinder find);

/// Reads `name`, "TARGET:PRESET" or the path of a machine file (*.json), into
/// `machine`, which stays as it is where `name` is empty. Emits the error.
llvm::LogicalResult readMachineOption(mlir::MLIRContext *context,
                                      llvm::StringRef name,
                                      MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_MACHINE_MACHINEOPTION_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine models as JSON. docs/machine-models.md describes the form.
#ifndef ASHLAR_MACHINE_MACHINEFILE_H
#define ASHLAR_MACHINE_MACHINEFILE_H

#include "ashlar/Machine/MachineModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ashlar {

/// Reads and checks a model. The error names the field, what was expected and
/// what was found.
llvm::Expected<MachineModel> parseMachine(llvm::StringRef json);

/// As parseMachine, from a file; the error begins with the path.
llvm::Expected<MachineModel> readMachineFile(llvm::StringRef path);

/// Whether the figures fit each other. parseMachine has asked already.
llvm::Error checkMachine(const MachineModel &machine);

/// The model in the form that parseMachine reads: the same text for the same
/// model. Without `pretty` on one line.
std::string printMachine(const MachineModel &machine, bool pretty = false);

/// SHA-256 of the figures; where they come from does not count.
std::string machineDigest(const MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_MACHINE_MACHINEFILE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Machine/EmbeddedMachines.h"
#include "ashlar/Machine/MachineFile.h"

using namespace ashlar;

MachineModel ashlar::parseEmbedded(const EmbeddedMachine &file) {
  llvm::Expected<MachineModel> machine = parseMachine(file.text);
  if (!machine)
    llvm::report_fatal_error(llvm::Twine(file.name) +
                             ".json: " + llvm::toString(machine.takeError()));
  return std::move(*machine);
}

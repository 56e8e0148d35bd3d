// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EmbeddedMachines.h"
#include "ashlar/Targets/MachineFile.h"

using namespace ashlar;

MachineModel ashlar::parseEmbedded(const EmbeddedMachine &file) {
  llvm::Expected<MachineModel> machine = parseMachine(file.text);
  if (!machine)
    llvm::report_fatal_error(llvm::Twine(file.name) +
                             ".json: " + llvm::toString(machine.takeError()));
  return std::move(*machine);
}

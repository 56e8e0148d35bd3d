// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Machine/EmbeddedMachines.h"
#include "ashlar/Machine/MachineFile.h"
#include "llvm/ADT/STLExtras.h"

using namespace ashlar;

MachineModel ashlar::parseEmbedded(const EmbeddedMachine &file) {
  llvm::Expected<MachineModel> machine = parseMachine(file.text);
  if (!machine)
    llvm::report_fatal_error(llvm::Twine(file.name) +
                             ".json: " + llvm::toString(machine.takeError()));
  return std::move(*machine);
}

MachineModel ashlar::findEmbedded(llvm::ArrayRef<EmbeddedMachine> files,
                                  llvm::StringRef name) {
  return parseEmbedded(*llvm::find_if(
      files, [&](const EmbeddedMachine &one) { return one.name == name; }));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machines.h"
#include "ashlar/Machine/EmbeddedMachines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace ashlar;
using namespace ashlar::cpu;
using llvm::StringRef;

namespace {
const EmbeddedMachine files[] = {
#include "CPUMachines.inc"
};

/// Every embedded file, read once.
const std::vector<MachineModel> &allFiles() {
  static const std::vector<MachineModel> machines = [] {
    std::vector<MachineModel> all;
    for (const EmbeddedMachine &file : files)
      all.push_back(parseEmbedded(file));
    return all;
  }();
  return machines;
}
} // namespace

const MachineModel &ashlar::cpu::machineInFile(StringRef name) {
  return *llvm::find_if(allFiles(), [&](const MachineModel &machine) {
    return machine.name == name;
  });
}

const MachineModel *ashlar::cpu::machineDescribing(StringRef processor) {
  for (const MachineModel &machine : allFiles())
    if (llvm::is_contained(machine.describes, processor))
      return &machine;
  return nullptr;
}

const std::vector<std::string> &ashlar::cpu::presets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"host"};
    for (const EmbeddedMachine &file : files)
      if (StringRef(file.name) != "host")
        all.push_back(file.name);
    return all;
  }();
  return names;
}

MachineModel ashlar::cpu::machineFor(StringRef preset) {
  return preset == "host" ? detectHost() : machineInFile(preset);
}

/// Formats that runtime/lib/devices/cpu loads, with their architecture; and
/// "object", which it does not.
static StringRef formatOf(const llvm::Triple &triple) {
  if (triple.getArch() == llvm::Triple::x86_64 && triple.isOSLinux())
    return "elf-x86_64";
  if (triple.getArch() == llvm::Triple::aarch64 && triple.isOSLinux())
    return "elf-aarch64";
  if (triple.getArch() == llvm::Triple::riscv64 &&
      triple.getOS() == llvm::Triple::UnknownOS)
    return "object";
  return "";
}

std::string ashlar::cpu::checkCPUMachine(const MachineModel &machine) {
  llvm::Triple triple(machine.code.triple);
  StringRef format = formatOf(triple);
  if (format.empty())
    return "code.triple: expected x86_64-unknown-linux-gnu, "
           "aarch64-unknown-linux-gnu or riscv64-unknown-elf, found '" +
           machine.code.triple + "'";
  if (machine.code.format != format)
    return "code.format: expected '" + format.str() + "' for " +
           machine.code.triple + ", found '" + machine.code.format + "'";
  // Only what the runtime can look for on the machine that loads the module.
  const MachineModel &widest = machineInFile(triple.isX86()     ? "host"
                                             : triple.isRISCV() ? "riscv64"
                                                                : "aarch64");
  for (const std::string &feature : machine.code.features)
    if (!llvm::is_contained(widest.code.features, feature))
      return "code.features: '" + feature +
             "' is none that this target makes code for; expected some of: " +
             llvm::join(widest.code.features, " ");
  if (machine.code.processor != widest.code.processor)
    return "code.processor: expected '" + widest.code.processor +
           "', to which code.features add, found '" + machine.code.processor +
           "'";
  int64_t widestVector = 16;
  if (machine.hasFeatures({"avx512f"}))
    widestVector = 64;
  else if (machine.hasFeatures({"avx"}))
    widestVector = 32;
  if (machine.vectors.bytes > widestVector)
    return "vectors.bytes: expected at most " + std::to_string(widestVector) +
           " with these code.features, found " +
           std::to_string(machine.vectors.bytes);
  bool many = !triple.isX86() || widestVector == 64;
  if (machine.vectors.count > (many ? 32 : 16))
    return std::string("vectors.count: expected at most ") +
           (many ? "32" : "16") + " with these code.features, found " +
           std::to_string(machine.vectors.count);
  return "";
}

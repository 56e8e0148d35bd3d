// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/OpenCL/Targets.h"
#include "../LLVM/CheckProcessor.h"
#include "OpenCLTarget.h"
#include "ashlar/Machine/EmbeddedMachines.h"
#include "llvm/TargetParser/Triple.h"

using namespace ashlar;

namespace {
const EmbeddedMachine files[] = {
#include "OpenCLMachines.inc"
};
} // namespace

static MachineModel machineFor(llvm::StringRef preset) {
  return findEmbedded(files, preset);
}

std::string ashlar::opencl::checkMachine(const MachineModel &machine,
                                         llvm::StringRef format) {
  llvm::Triple triple(machine.code.triple);
  if (triple.getArch() != llvm::Triple::spirv64)
    return "code.triple: expected spirv64v1.2-unknown-unknown or another "
           "version of it, found '" +
           machine.code.triple + "'";
  if (machine.code.format != format)
    return "code.format: expected '" + format.str() + "', found '" +
           machine.code.format + "'";
  if (machine.vectors.bytes > 64)
    return "vectors.bytes: expected at most 64, 16 elements of four bytes, "
           "found " +
           std::to_string(machine.vectors.bytes);
  return "";
}

static std::string check(const MachineModel &machine) {
  const bool isSpir = machine.code.format == opencl::spirFormat;
  std::string why =
      opencl::checkMachine(machine, isSpir ? opencl::spirFormat : "spirv64");
  return why.empty() ? checkProcessor(machine) : why;
}

TargetInfo ashlar::opencl::openclTargetInfo() {
  TargetInfo info = {"opencl",
                     {"generic", "avx2", "subgroups", "pocl"},
                     machineFor,
                     check,
                     [](MachineModel machine) -> std::unique_ptr<Target> {
                       return std::make_unique<OpenCLTarget>(
                           std::move(machine));
                     }};
  info.standsBeside = true;
  return info;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/ROCm/Targets.h"
#include "../LLVM/CheckProcessor.h"
#include "ROCmTarget.h"
#include "ashlar/Machine/EmbeddedMachines.h"
#include "llvm/TargetParser/Triple.h"

using namespace ashlar;

namespace {
const EmbeddedMachine files[] = {
#include "ROCmMachines.inc"
};
} // namespace

static MachineModel machineFor(llvm::StringRef preset) {
  return findEmbedded(files, preset);
}

static std::string check(const MachineModel &machine) {
  llvm::Triple triple(machine.code.triple);
  if (triple.getArch() != llvm::Triple::amdgcn ||
      triple.getOS() != llvm::Triple::AMDHSA)
    return "code.triple: expected amdgcn-amd-amdhsa, found '" +
           machine.code.triple + "'";
  if (!llvm::StringRef(machine.code.processor).starts_with("gfx"))
    return "code.processor: expected gfx942 or the like, found '" +
           machine.code.processor + "'";
  if (std::string wrong = checkProcessor(machine); !wrong.empty())
    return wrong;
  if (machine.code.format != "hsaco")
    return "code.format: expected 'hsaco', found '" + machine.code.format + "'";
  if (!machine.countOf("lane") || !machine.countOf("group"))
    return "scopes: expected one of kind 'lane' and one of kind 'group', the "
           "lanes of a wave and the waves of a workgroup";
  return "";
}

TargetInfo ashlar::rocm::rocmTargetInfo() {
  TargetInfo info = {"rocm",
                     {"gfx942", "gfx90a", "gfx1100", "gfx1201"},
                     machineFor,
                     check,
                     [](MachineModel machine) -> std::unique_ptr<Target> {
                       return std::make_unique<ROCmTarget>(std::move(machine));
                     }};
  info.standsBeside = true;
  return info;
}

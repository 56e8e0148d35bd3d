// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CUDA/Targets.h"
#include "../LLVM/CheckProcessor.h"
#include "CUDATarget.h"
#include "ashlar/Machine/EmbeddedMachines.h"
#include "llvm/TargetParser/Triple.h"

using namespace ashlar;

namespace {
const EmbeddedMachine files[] = {
#include "CUDAMachines.inc"
};
} // namespace

static MachineModel machineFor(llvm::StringRef preset) {
  return findEmbedded(files, preset);
}

static std::string check(const MachineModel &machine) {
  if (llvm::Triple(machine.code.triple).getArch() != llvm::Triple::nvptx64)
    return "code.triple: expected nvptx64-nvidia-cuda, found '" +
           machine.code.triple + "'";
  if (!llvm::StringRef(machine.code.processor).starts_with("sm_"))
    return "code.processor: expected sm_80 or the like, found '" +
           machine.code.processor + "'";
  if (std::string wrong = checkProcessor(machine); !wrong.empty())
    return wrong;
  if (machine.code.format != "ptx")
    return "code.format: expected 'ptx', found '" + machine.code.format + "'";
  if (!machine.countOf("lane") || !machine.countOf("group"))
    return "scopes: expected one of kind 'lane' and one of kind 'group', the "
           "threads of a warp and the warps of a block";
  return "";
}

TargetInfo ashlar::cuda::cudaTargetInfo() {
  TargetInfo info = {"cuda",
                     {"sm_80", "sm_90a", "sm_100a"},
                     machineFor,
                     check,
                     [](MachineModel machine) -> std::unique_ptr<Target> {
                       return std::make_unique<CUDATarget>(std::move(machine));
                     }};
  info.standsBeside = true;
  info.assembler = "ptxas";
  info.hasLineTables = true;
  return info;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel's GPUs: the kernels of OpenCL's GPU form, called with addresses, for
// drivers of oneAPI's Level Zero.
#include "ashlar/Targets/LevelZero/Targets.h"
#include "LevelZeroTarget.h"
#include "Ocloc.h"
#include "ashlar/Machine/EmbeddedMachines.h"

using namespace ashlar;
using namespace ashlar::levelzero;

namespace {
const EmbeddedMachine files[] = {
#include "LevelZeroMachines.inc"
};
} // namespace

static MachineModel machineFor(llvm::StringRef preset) {
  return findEmbedded(files, preset);
}

static std::string check(const MachineModel &machine) {
  std::string why = opencl::checkMachine(machine, "spirv64-addresses");
  if (why.empty() && (!machine.countOf("lane") || !machine.countOf("group")))
    return "scopes: expected one of kind 'lane' and one of kind 'group', the "
           "lanes of a subgroup and the subgroups of a workgroup";
  return why;
}

TargetInfo ashlar::levelzero::levelZeroTargetInfo() {
  TargetInfo info = {"level-zero",
                     {"generic", "pvc", "bmg", "dg2", "tgllp"},
                     machineFor,
                     check,
                     [](MachineModel machine) -> std::unique_ptr<Target> {
                       return std::make_unique<LevelZeroTarget>(
                           std::move(machine));
                     }};
  info.standsBeside = true;
  info.assembler = "Intel's ocloc, by that name";
  info.isAssembler = isOcloc;
  return info;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckProcessor.h"
#include "LLVMModule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace ashlar;

std::string ashlar::checkProcessor(const MachineModel &machine) {
  initializeLLVM();
  std::string error;
  Triple triple(machine.code.triple);
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return ""; // who makes code says so
  std::unique_ptr<MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  const std::string &processor = machine.code.processor;
  if (!info->isCPUStringValid(processor)) {
    std::string known;
    for (const auto &each : info->getAllProcessorDescriptions())
      known += std::string(" ") + each.Key;
    return "code.processor: expected one that LLVM makes code for:" + known +
           "; found '" + processor + "'";
  }
  for (const std::string &feature : machine.code.features)
    if (none_of(info->getAllProcessorFeatures(),
                [&](const auto &known) { return known.Key == feature; }))
      return "code.features: expected some of those that 'llc -mtriple=" +
             triple.str() + " -mattr=help' lists, found '" + feature + "'";
  return "";
}

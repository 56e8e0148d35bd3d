// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Fuse/Companions.h"
#include "ashlar/Cost/ChooseLevels.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace ashlar;

static CompanionFinder companionFinder = nullptr;

void ashlar::setCompanionFinder(CompanionFinder find) {
  companionFinder = find;
}

CompanionDevice ashlar::describedCompanion(MachineModel machine) {
  CompanionDevice device;
  device.name = machine.target + ":" + machine.name;
  device.whyNot = [machine](Operation *op) -> std::string {
    auto contract = dyn_cast<tile::ContractOp>(op);
    if (!contract)
      return "";
    ProductTypes types = productOf(contract);
    if (!machine.unit(types))
      return "no unit of it takes " + types.left + " times " + types.right +
             " into " + types.accumulator;
    return machine.scopes.empty() || chooseLevels(contract, machine)
               ? ""
               : "none of its tiles fits";
  };
  device.machine = std::move(machine);
  return device;
}

LogicalResult
ashlar::readCompanionOption(MLIRContext *context, StringRef names,
                            std::vector<CompanionDevice> &companions) {
  if (names.empty())
    return success();
  auto fail = [&](const std::string &why) {
    return emitError(UnknownLoc::get(context))
           << "devices=" << names << ": " << why;
  };
  if (!companionFinder)
    return fail("this program knows no targets");
  auto found = companionFinder(names);
  if (!found)
    return fail(llvm::toString(found.takeError()));
  companions = std::move(*found);
  return success();
}

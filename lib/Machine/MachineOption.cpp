// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Machine/MachineFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

using namespace ashlar;

static PresetFinder presetFinder = nullptr;

void ashlar::setPresetFinder(PresetFinder find) { presetFinder = find; }

static llvm::Expected<MachineModel> find(llvm::StringRef name) {
  if (name.ends_with(".json") || !presetFinder)
    return readMachineFile(name);
  return presetFinder(name);
}

llvm::LogicalResult ashlar::readMachineOption(mlir::MLIRContext *context,
                                              llvm::StringRef name,
                                              MachineModel &machine) {
  if (name.empty())
    return llvm::success();
  auto found = find(name);
  if (!found)
    return mlir::emitError(mlir::UnknownLoc::get(context))
           << "machine=" << name << ": " << llvm::toString(found.takeError());
  machine = std::move(*found);
  return llvm::success();
}

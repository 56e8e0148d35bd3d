// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TargetOptions.h"

using namespace mlir;
using namespace ashlar;

PrecisionOptions ashlar::precisionOptionsOf(const Target &target) {
  Capabilities has = target.capabilities();
  PrecisionOptions options;
  options.wideAccumulators = has.wideAccumulators;
  options.multipliesBytes = has.multipliesBytes;
  return options;
}

TileOptions ashlar::tileOptionsOf(const Target &target) {
  TileOptions options;
  options.vectorize = target.capabilities().tilesKernels;
  options.machine = target.machine();
  return options;
}

void ashlar::addCompanions(const Target &target, PrecisionOptions &options) {
  for (auto &companion : target.companions) {
    const MachineModel &machine = companion->machine();
    if (machine.matrixUnit({"s8", "s8", "s32"}))
      options.bytesFor = machine;
    for (NumberType low : {NumberType::BF16, NumberType::F16})
      if (machine.matrixUnit({spell(low), spell(low), "f32"}))
        options.lowElsewhere.push_back(low);
  }
}

void ashlar::addCompanions(const Target &target, TileOptions &options) {
  for (auto &companion : target.companions) {
    Capabilities has = companion->capabilities();
    options.companions.push_back(
        {companion->name(),
         [&other = *companion](Operation *op) { return other.whyNot(op); },
         has.endsInBytes, has.arraySumBits});
  }
}

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

std::vector<unsigned>
ashlar::standIns(llvm::ArrayRef<std::unique_ptr<Target>> programs) {
  std::vector<unsigned> numbers;
  for (auto [i, target] : llvm::enumerate(programs))
    if (target->standsIn)
      numbers.push_back(unsigned(i));
  return numbers;
}

void ashlar::addCompanions(const Target &target, PrecisionOptions &options) {
  for (auto &companion : target.companions) {
    const MachineModel &machine = companion->machine();
    // What takes bytes of any sign takes them as the host wants them.
    if (machine.matrixUnit({"s8", "s8", "s32"}) &&
        !machine.matrixUnit({"u8", "s8", "s32"}))
      options.bytesFor = machine;
    for (NumberType low : {NumberType::BF16, NumberType::F16})
      if (machine.matrixUnit({spell(low), spell(low), "f32"}))
        options.lowElsewhere.push_back(low);
  }
}

CompanionDevice ashlar::companionOf(std::shared_ptr<const Target> target) {
  Capabilities has = target->capabilities();
  CompanionDevice device;
  device.name = target->name();
  device.machine = target->machine();
  device.endsInBytes = has.endsInBytes;
  device.fixedSizes = has.fixedSizes;
  device.arraySumBits = has.arraySumBits;
  device.lowersKernels = has.lowersKernels;
  device.whyNot = [target](Operation *op) { return target->whyNot(op); };
  device.nanoseconds = [target](Operation *op) {
    return target->nanoseconds(op);
  };
  return device;
}

void ashlar::addCompanions(const Target &target, TileOptions &options) {
  options.hostStandsIn = target.standsIn;
  // They live as long as the target.
  for (auto &companion : target.companions)
    options.companions.push_back(companionOf(std::shared_ptr<const Target>(
        std::shared_ptr<const Target>(), companion.get())));
}

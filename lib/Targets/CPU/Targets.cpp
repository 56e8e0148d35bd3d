// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CPU/Targets.h"
#include "CPUTarget.h"

using namespace ashlar;
using namespace ashlar::cpu;

namespace {
/// Plain loops in the order of the definition: our own oracle.
class ReferenceTarget : public CPUTarget {
public:
  ReferenceTarget() : CPUTarget(machineFor("host")) {
    // The same code on every machine of one kind.
    machine.features.clear();
    machine.tune = "generic";
  }
  bool fuses() const override { return false; }
  TileOptions tileOptions() const override {
    TileOptions options;
    options.vectorize = false;
    return options;
  }

protected:
  bool contractsFloats() const override { return false; }
  bool optimizes() const override { return false; }
};
} // namespace

TargetInfo ashlar::cpu::cpuTargetInfo() {
  return {
      "cpu",
      {"host", "x86-64-v3", "x86-64-v4", "sapphirerapids", "aarch64", "x86-64"},
      [](llvm::StringRef preset) -> std::unique_ptr<Target> {
        return std::make_unique<CPUTarget>(machineFor(preset));
      }};
}

TargetInfo ashlar::cpu::referenceTargetInfo() {
  return {
      "reference", {"generic"}, [](llvm::StringRef) -> std::unique_ptr<Target> {
        return std::make_unique<ReferenceTarget>();
      }};
}

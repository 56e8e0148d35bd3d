// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CPU/Targets.h"
#include "CPUTarget.h"
#include "Machines.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace ashlar;
using namespace ashlar::cpu;

namespace {
/// Plain loops in the order of the definition: our own oracle.
class ReferenceTarget : public CPUTarget {
public:
  using CPUTarget::CPUTarget;
  bool fuses() const override { return false; }
  PrecisionOptions precisionOptions() const override {
    PrecisionOptions options;
    options.wideAccumulators = true;
    options.multipliesBytes = false;
    return options;
  }
  TileOptions tileOptions() const override {
    TileOptions options;
    options.vectorize = false;
    return options;
  }

protected:
  bool contractsFloats() const override { return false; }
  bool optimizes() const override { return false; }
};

/// Fast loops whose results are the same bytes on every machine: nothing is
/// contracted, and the choice of tiles, and with it the order of sums, follows
/// one model of a machine whichever the code is for.
class ConstantsTarget : public CPUTarget {
public:
  using CPUTarget::CPUTarget;

protected:
  bool contractsFloats() const override { return false; }
};
} // namespace

static MachineModel constantsMachine() {
  MachineModel machine = machineInFile("x86-64");
  if (llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64())
    machine.code = machineInFile("aarch64").code;
  return machine;
}

/// The same code on every machine of one kind.
static MachineModel referenceMachine(llvm::StringRef) {
  bool isArm = llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64();
  MachineModel machine = machineInFile(isArm ? "aarch64" : "x86-64");
  machine.target = "reference";
  machine.name = "generic";
  return machine;
}

TargetInfo ashlar::cpu::cpuTargetInfo() {
  return {"cpu",
          presets(),
          machineFor,
          checkCPUMachine,
          [](MachineModel machine) -> std::unique_ptr<Target> {
            return std::make_unique<CPUTarget>(std::move(machine));
          },
          /*isHost=*/true,
          /*objectPreset=*/"riscv64"};
}

TargetInfo ashlar::cpu::referenceTargetInfo() {
  auto refuse = [](const MachineModel &) -> std::string {
    return "the target reference reads no machine model; leave --machine out";
  };
  return {"reference",
          {"generic"},
          referenceMachine,
          refuse,
          [](MachineModel machine) -> std::unique_ptr<Target> {
            return std::make_unique<ReferenceTarget>(std::move(machine));
          },
          /*isHost=*/true,
          /*objectPreset=*/"",
          []() -> std::unique_ptr<Target> {
            return std::make_unique<ConstantsTarget>(constantsMachine());
          }};
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Our own oracle, by which other targets are checked: the processor's code
// without fusion, tiles and vectors, in the order of the definition. Beside it,
// what computes constants while compiling.
#include "ashlar/Targets/CPU/CPUTarget.h"
#include "ashlar/Targets/CPU/Targets.h"
#include "ashlar/Targets/Reference/Targets.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace ashlar;

namespace {
class ReferenceTarget : public cpu::CPUTarget {
public:
  using CPUTarget::CPUTarget;
  Capabilities capabilities() const override {
    Capabilities own;
    own.fuses = own.tilesKernels = own.multipliesBytes = false;
    own.wideAccumulators = true;
    return own;
  }
  void buildKernelPipeline(mlir::OpPassManager &program,
                           const KernelOptions &) const override {
    buildLoopsPipeline(program);
  }

  mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                      const EmitOptions &options) override {
    auto binary = CPUTarget::emit(program, options);
    if (succeeded(binary))
      binary->isPlain = true;
    return binary;
  }

protected:
  bool contractsFloats() const override { return false; }
  bool optimizes() const override { return false; }
};

/// Fast loops whose results are the same bytes on every machine: nothing is
/// contracted, and the choice of tiles, and with it the order of sums, follows
/// one model of a machine whichever the code is for.
class ConstantsTarget : public cpu::CPUTarget {
public:
  using CPUTarget::CPUTarget;

protected:
  bool contractsFloats() const override { return false; }
};
} // namespace

/// Not the host's own, so that code is the same on every machine of a kind.
static MachineModel baseline(llvm::StringRef preset) {
  return cpu::cpuTargetInfo().machineFor(preset);
}

static bool isArm() {
  return llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64();
}

static MachineModel constantsMachine() {
  MachineModel machine = baseline("x86-64");
  if (isArm())
    machine.code = baseline("aarch64").code;
  return machine;
}

static MachineModel referenceMachine(llvm::StringRef) {
  MachineModel machine = baseline(isArm() ? "aarch64" : "x86-64");
  machine.target = "reference";
  machine.name = "generic";
  return machine;
}

TargetInfo ashlar::reference::referenceTargetInfo() {
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SystolicTarget.h"
#include "CoreFunction.h"
#include "LowerKernel.h"
#include "Machines.h"
#include "StreamOps.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "ashlar/Targets/Systolic/Targets.h"
#include "mlir/IR/Threading.h"
#include "systolic/Utilisation.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic;

std::string SystolicTarget::whyNot(Operation *contract) const {
  auto op = dyn_cast<tile::ContractOp>(contract);
  if (!op)
    return "it is no contraction";
  return systolic::whyNot(op, streamMachine(machine()));
}

std::optional<double> SystolicTarget::nanoseconds(Operation *contract) const {
  auto op = dyn_cast<tile::ContractOp>(contract);
  auto cycles =
      op ? systolic::predictCycles(op, streamMachine(machine())) : std::nullopt;
  if (!cycles)
    return std::nullopt;
  return double(*cycles) / machine().clock.hz * 1e9 + machine().costs.launchNs;
}

Capabilities SystolicTarget::capabilities() const {
  Capabilities own;
  // Only a machine that is told what to wait for can be told by parts.
  uint32_t flags = streamMachine(machine()).flags;
  own.joinsKernels = flags & ASHLAR_SYSTOLIC_EXTENDED &&
                     !(flags & ASHLAR_SYSTOLIC_INTERLOCKED);
  const SystolicControl &control = *machine().systolic;
  // Without a vector unit.
  own.endsInBytes = !control.extended;
  own.fixedSizes = true;
  own.arraySumBits = control.weightsStay ? 0 : control.arraySumBits;
  return own;
}

/// The streams of this device's kernels.
static FailureOr<Image> makeStreams(ModuleOp program, unsigned device,
                                    const MachineModel &machine) {
  // Streams by themselves, as ops or still as contractions.
  SymbolTable symbols(program);
  auto kernels = exec::kernelsOf(program, device);
  SmallVector<func::FuncOp> functions;
  for (exec::KernelOp kernel : kernels)
    functions.push_back(symbols.lookup<func::FuncOp>(*kernel.getBody()));
  Image image;
  image.machine = streamMachine(machine);
  image.kernels.resize(functions.size());
  std::vector<char> done(functions.size(), false);
  std::vector<Lowered> lowered(functions.size());
  parallelFor(program.getContext(), 0, functions.size(), [&](size_t i) {
    bool isStream =
        !functions[i]
             .walk([](tile::ContractOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
    std::string name = kernels[i].getSymName().str();
    auto kernel =
        isStream ? readOps(functions[i])
                 : lowerKernel(functions[i], name, kernels[i].getNumBindings(),
                               image.machine, &lowered[i]);
    if (failed(kernel))
      return;
    image.kernels[i] = std::move(*kernel);
    image.kernels[i].name = name;
    done[i] = true;
  });
  if (llvm::is_contained(done, false))
    return failure();
  for (auto [function, found] : llvm::zip_equal(functions, lowered))
    remarkLowered(function, found);
  return image;
}

/// As the simulator counts them; bound by what its longest region is.
static KernelPrediction predict(const Machine &machine, const Kernel &kernel) {
  KernelUse use;
  // What is wrong with a stream was said where it was made.
  (void)measureUse(machine, kernel, use);
  const RegionUse *longest = nullptr;
  for (const RegionUse &region : use.regions)
    if (!longest || region.cycles > longest->cycles)
      longest = &region;
  return {use.cycles, longest ? longest->bound : "latency"};
}

FailureOr<ProgramBinary> SystolicTarget::emit(ModuleOp program,
                                              const EmitOptions &options) {
  auto image = makeStreams(program, options.device, machine());
  if (failed(image))
    return failure();
  ProgramBinary binary;
  binary.format = machine().code.format;
  binary.deviceType = "systolic";
  binary.machine = machine();
  std::vector<KernelPrediction> predictions(image->kernels.size());
  parallelFor(program.getContext(), 0, predictions.size(), [&](size_t i) {
    predictions[i] = predict(image->machine, image->kernels[i]);
  });
  for (auto [kernel, prediction] :
       llvm::zip_equal(image->kernels, predictions)) {
    binary.codeBytes[std::string(kernel.name)] =
        kernel.commands.size() * sizeof(ashlar_systolic_command_t);
    binary.predictions[std::string(kernel.name)] = prediction;
  }
  binary.image = writeImage(*image);
  return binary;
}

std::string SystolicTarget::whyNoObject(bool isBare) const {
  if (!isBare)
    return "its commands are those of a bare core; --emit=riscv-object makes "
           "an object file of them";
  return whyNoCore(streamMachine(machine()));
}

LogicalResult SystolicTarget::addToObject(ModuleOp program,
                                          const EmitOptions &options,
                                          llvm::Module &object) {
  auto image = makeStreams(program, options.device, machine());
  if (failed(image))
    return failure();
  for (const Kernel &kernel : image->kernels)
    addCoreFunction(kernel, object);
  return success();
}

TargetInfo systolic::systolicTargetInfo() {
  return {"systolic",
          presets(),
          machineFor,
          checkSystolicMachine,
          [](MachineModel machine) -> std::unique_ptr<Target> {
            return std::make_unique<SystolicTarget>(std::move(machine));
          },
          /*isHost=*/false};
}

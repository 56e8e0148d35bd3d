// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ROCmTarget.h"
#include "../LLVM/CompileEach.h"
#include "../LLVM/KeptInMemory.h"
#include "../LLVM/LLVMModule.h"
#include "../LLVM/ThreadCode.h"
#include "CodeObject.h"
#include "Occupancy.h"
#include "WriteObjects.h"
#include "ashlar/Targets/ROCm/Passes.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Transforms/Simt/Passes.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::rocm;

Capabilities ROCmTarget::capabilities() const {
  Capabilities has;
  has.lowersKernels = true;
  return has;
}

std::string ROCmTarget::whyNot(Operation *op) const {
  std::string missing = functionWithoutCode(op);
  return missing.empty() ? "" : "AMD's GPUs have no " + missing;
}

void ROCmTarget::buildKernelPipeline(OpPassManager &program,
                                     const KernelOptions &options) const {
  LanesOptions lanes = lanesOf(machine(), options.steps);
  lanes.shuffles = true;
  lanes.piece = lanes.vectorBytes;
  buildLanesPipeline(program, lanes);
}

/// A thread's scratch memory is to be empty.
static LogicalResult checkScratch(ModuleOp kernel, StringRef symbol,
                                  const KernelResources &takes, bool isHot,
                                  const EmitOptions &options) {
  if (takes.stackBytes == 0)
    return success();
  std::string found = std::to_string(takes.stackBytes) +
                      " bytes of a thread are kept in memory: of " +
                      std::to_string(takes.spillBytes) +
                      " for want of registers, of which it "
                      "has " +
                      std::to_string(takes.registers);
  return sayKeptInMemory(kernel, ("kernel " + symbol).str(), found, isHot,
                         options);
}

FailureOr<ProgramBinary> ROCmTarget::emit(ModuleOp program,
                                          const EmitOptions &options) {
  initializeLLVM();
  cpu::LoweringOptions lowering;
  lowering.library = false;
  lowering.convertsBf16 = true;
  auto lowered = cpu::lowerKernels(
      program, options.device, lowering, [&](OpPassManager &pm) {
        pm.addPass(createShareVariablesPass());
        pm.addPass(createThreadsToROCDLPass(
            {machine().code.processor, machine().roundsToTF32}));
      });
  if (failed(lowered))
    return failure();
  auto &kernels = lowered->kernels;
  auto compiled = compileEach<CompiledKernel>(
      program.getContext(), kernels, options.refused, [&](const auto &kernel) {
        return compileKernel(kernel, machine(),
                             {!options.plain, options.saveTemps});
      });
  if (failed(compiled))
    return failure();
  std::vector<StringRef> objects;
  for (const CompiledKernel &kernel : *compiled)
    objects.emplace_back(kernel.object.data(), kernel.object.size());
  auto image = linkCodeObject(objects, machine());
  if (!image) {
    if (options.refused)
      *options.refused = true;
    return emitError(program.getLoc()) << llvm::toString(image.takeError());
  }
  saveBytes(options.saveTemps, "kernels.hsaco", image->bytes);
  ProgramBinary binary;
  bool isSound = true;
  for (auto [kernel, code] : llvm::zip_equal(kernels, *compiled)) {
    KernelResources takes = image->resources[kernel.symbol];
    computeOccupancy(machine(), kernel.threads, takes);
    binary.resources[kernel.symbol] = takes;
    binary.codeBytes[kernel.symbol] = image->codeBytes[kernel.symbol];
    isSound &= succeeded(checkScratch(kernel.module, kernel.symbol, takes,
                                      code.multipliesMatrices, options));
  }
  if (!isSound)
    return failure();
  binary.format = machine().code.format;
  binary.deviceType = "hip";
  binary.requiredFeatures = {machine().code.processor};
  binary.image = std::move(image->bytes);
  return binary;
}

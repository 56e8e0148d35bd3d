// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpenCLTarget.h"
#include "../CPU/LowerKernels.h"
#include "../LLVM/CompileEach.h"
#include "../LLVM/LLVMModule.h"
#include "TranslateSpirv.h"
#include "WriteSpirv.h"
#include "ashlar/Targets/OpenCL/Passes.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::opencl;

Capabilities OpenCLTarget::capabilities() const {
  Capabilities has;
  has.lowersKernels = true;
  return has;
}

void OpenCLTarget::buildKernelPipeline(OpPassManager &program,
                                       const KernelOptions &options) const {
  LanesOptions lanes = lanesOf(machine(), options.steps);
  // Lanes read each other's values from SPIR-V 1.3 on.
  lanes.shuffles = llvm::Triple(machine().code.triple).getSubArch() >=
                   llvm::Triple::SPIRVSubArch_v13;
  buildLanesPipeline(program, lanes);
}

FailureOr<ProgramBinary> OpenCLTarget::emit(ModuleOp program,
                                            const EmitOptions &options) {
  initializeLLVM();
  cpu::LoweringOptions lowering;
  lowering.approximate = !options.plain;
  lowering.fma = true;
  lowering.convertsF16 = false;
  auto lowered = cpu::lowerKernels(program, options.device, lowering,
                                   [](OpPassManager &pm) {
                                     pm.addPass(createShareVariablesPass());
                                     pm.addPass(createLowerThreadsPass());
                                   });
  if (failed(lowered))
    return failure();
  auto &kernels = lowered->kernels;
  WriteOptions write;
  write.optimize = !options.plain;
  write.saveTemps = options.saveTemps;
  auto bitcodes = compileEach<llvm::SmallVector<char, 0>>(
      program.getContext(), kernels, /*refused=*/nullptr,
      [&](const auto &kernel) {
        return compileKernel(
            {kernel.module, kernel.symbol, kernel.nodes, kernel.threads},
            machine(), write);
      });
  if (failed(bitcodes))
    return failure();
  auto image = writeSpirv(*bitcodes, machine(), write);
  if (!image)
    return emitError(program.getLoc()) << llvm::toString(image.takeError());
  ProgramBinary binary;
  binary.format = machine().code.format;
  binary.deviceType = machine().target;
  binary.requiredFeatures = std::move(image->extensions);
  binary.image = std::move(image->words);
  binary.codeBytes = std::move(image->codeBytes);
  if (failed(finish(program, *lowered, options, binary)))
    return failure();
  return binary;
}

/// LLVM IR of it, for drivers that take no SPIR-V.
LogicalResult OpenCLTarget::finish(ModuleOp program,
                                   const cpu::LoweredKernels &lowered,
                                   const EmitOptions &options,
                                   ProgramBinary &binary) const {
  if (binary.format != spirFormat)
    return success();
  SmallVector<llvm::StringRef> kernels;
  for (const cpu::LoweredKernels::Kernel &kernel : lowered.kernels)
    kernels.push_back(kernel.symbol);
  auto bitcode = translateSpirv(binary.image, kernels);
  if (!bitcode) {
    if (options.refused)
      *options.refused = true;
    return emitError(program.getLoc()) << llvm::toString(bitcode.takeError());
  }
  binary.image = std::move(*bitcode);
  saveBytes(options.saveTemps, "kernels.bc", binary.image);
  return success();
}

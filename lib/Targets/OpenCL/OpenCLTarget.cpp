// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpenCLTarget.h"
#include "../CPU/LowerKernels.h"
#include "../LLVM/LLVMModule.h"
#include "WriteSpirv.h"
#include "ashlar/Targets/OpenCL/Passes.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "mlir/IR/Threading.h"

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
  buildLanesPipeline(program, lanesOf(machine(), options.steps));
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
  std::vector<llvm::SmallVector<char, 0>> bitcodes(kernels.size());
  std::vector<std::string> errors(kernels.size());
  parallelFor(program.getContext(), 0, kernels.size(), [&](size_t i) {
    auto bitcode = compileKernel({kernels[i].module, kernels[i].symbol,
                                  kernels[i].nodes, kernels[i].threads},
                                 machine(), write);
    if (bitcode)
      bitcodes[i] = std::move(*bitcode);
    else
      errors[i] = llvm::toString(bitcode.takeError());
  });
  for (auto [i, error] : llvm::enumerate(errors))
    if (!error.empty())
      return emitError(kernels[i].module.getLoc()) << error;
  auto image = writeSpirv(bitcodes, machine(), write);
  if (!image)
    return emitError(program.getLoc()) << llvm::toString(image.takeError());
  ProgramBinary binary;
  binary.format = machine().code.format;
  binary.deviceType = machine().target;
  binary.requiredFeatures = std::move(image->extensions);
  binary.image = std::move(image->words);
  binary.codeBytes = std::move(image->codeBytes);
  return binary;
}

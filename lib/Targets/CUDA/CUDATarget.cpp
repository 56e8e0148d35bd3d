// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CUDATarget.h"
#include "../LLVM/CompileEach.h"
#include "../LLVM/LLVMModule.h"
#include "../LLVM/ThreadCode.h"
#include "MachineCode.h"
#include "WritePtx.h"
#include "ashlar/Targets/CUDA/Passes.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Transforms/Simt/Passes.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

Capabilities CUDATarget::capabilities() const {
  Capabilities has;
  has.lowersKernels = true;
  return has;
}

std::string CUDATarget::whyNot(Operation *op) const {
  std::string missing = functionWithoutCode(op);
  return missing.empty() ? "" : "PTX has no " + missing;
}

void CUDATarget::buildKernelPipeline(OpPassManager &program,
                                     const KernelOptions &options) const {
  LanesOptions lanes = lanesOf(machine(), options.steps);
  lanes.shuffles = true;
  lanes.piece = lanes.vectorBytes;
  buildLanesPipeline(program, lanes);
}

FailureOr<ProgramBinary> CUDATarget::emit(ModuleOp program,
                                          const EmitOptions &options) {
  initializeLLVM();
  cpu::LoweringOptions lowering;
  lowering.library = false;
  lowering.convertsBf16 = true;
  auto lowered = cpu::lowerKernels(program, options.device, lowering,
                                   [](OpPassManager &pm) {
                                     pm.addPass(createShareVariablesPass());
                                     pm.addPass(createThreadsToNVVMPass());
                                   });
  if (failed(lowered))
    return failure();
  auto &kernels = lowered->kernels;
  WriteOptions write;
  write.optimize = !options.plain;
  write.hasLines = options.lineTables;
  write.saveTemps = options.saveTemps;
  const bool isKept = options.mayTryAgain || !known.isEmpty();
  auto compiled = compileEach<CompiledKernel>(
      program.getContext(), kernels, options.refused, [&](const auto &kernel) {
        return isKept ? known.compileKernel(kernel, machine(), write)
                      : compileKernel(kernel, machine(), write);
      });
  if (failed(compiled))
    return failure();
  ProgramBinary binary;
  for (auto [kernel, code] : llvm::zip_equal(kernels, *compiled))
    if (code.sharedBytes != 0)
      binary.sharedBytes[kernel.symbol] = code.sharedBytes;
  binary.format = machine().code.format;
  binary.deviceType = "cuda";
  binary.requiredFeatures = {machine().code.processor};
  MachineCodeWriter writer(program, machine(), options, write);
  if (failed(writer.run(kernels, *compiled, binary)))
    return failure();
  return binary;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CUDATarget.h"
#include "../LLVM/LLVMModule.h"
#include "MachineCode.h"
#include "WritePtx.h"
#include "ashlar/Targets/CUDA/Passes.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Threading.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

Capabilities CUDATarget::capabilities() const {
  Capabilities has;
  has.lowersKernels = true;
  return has;
}

/// Functions that instructions compute to the last bit, or that
/// ashlar-approximate-math writes, which is for up to 32 bits, but for two.
static bool hasCode(Operation *op) {
  if (!isa<arith::RemFOp>(op) && op->getName().getDialectNamespace() !=
                                     math::MathDialect::getDialectNamespace())
    return true;
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
          math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
          math::ExpOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
          math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::LogOp,
          math::RoundEvenOp, math::RoundOp, math::RsqrtOp, math::SqrtOp,
          math::TruncOp>(op))
    return true;
  if (isa<arith::RemFOp, math::AcosOp, math::AcoshOp, math::AsinOp,
          math::AsinhOp, math::Atan2Op, math::AtanOp, math::AtanhOp,
          math::CosOp, math::CoshOp, math::ErfOp, math::Exp2Op, math::ExpM1Op,
          math::Log10Op, math::Log1pOp, math::Log2Op, math::PowFOp, math::SinOp,
          math::SinhOp, math::TanOp, math::TanhOp>(op))
    return getElementTypeOrSelf(op->getResult(0).getType())
               .getIntOrFloatBitWidth() <= 32;
  return false;
}

std::string CUDATarget::whyNot(Operation *op) const {
  std::string why;
  op->walk([&](Operation *inner) {
    if (hasCode(inner))
      return WalkResult::advance();
    why = "PTX has no " + inner->getName().getStringRef().str();
    return WalkResult::interrupt();
  });
  return why;
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
  const WriteOptions write = {!options.plain, /*sinks=*/false,
                              options.lineTables, options.saveTemps};
  std::vector<CompiledKernel> compiled(kernels.size());
  std::vector<std::string> errors(kernels.size());
  parallelFor(program.getContext(), 0, kernels.size(), [&](size_t i) {
    auto code = compileKernel(kernels[i], machine(), write);
    if (code)
      compiled[i] = std::move(*code);
    else
      errors[i] = llvm::toString(code.takeError());
  });
  ProgramBinary binary;
  for (auto [kernel, code, error] :
       llvm::zip_equal(kernels, compiled, errors)) {
    if (!error.empty()) {
      if (options.refused)
        *options.refused = true;
      return emitError(kernel.module.getLoc()) << error;
    }
    if (code.sharedBytes != 0)
      binary.sharedBytes[kernel.symbol] = code.sharedBytes;
  }
  binary.format = machine().code.format;
  binary.deviceType = "cuda";
  binary.requiredFeatures = {machine().code.processor};
  MachineCodeWriter writer(program, machine(), options, write);
  if (failed(writer.run(kernels, compiled, binary)))
    return failure();
  return binary;
}

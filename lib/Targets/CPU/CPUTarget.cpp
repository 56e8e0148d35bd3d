// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CPU/CPUTarget.h"
#include "../LLVM/LLVMModule.h"
#include "CompileKernel.h"
#include "LinkImage.h"
#include "LowerKernels.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "mlir/IR/Threading.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cpu;

void CPUTarget::buildKernelPipeline(OpPassManager &program,
                                    const KernelOptions &options) const {
  buildLanesPipeline(program, {machine().vectors.bytes, machine().vectors.count,
                               options.steps});
}

/// Whether llvm.fma is an instruction and not a call, and so on: on AArch64
/// every machine has what `feature` says of x86; RISC-V's floats have fma.
static bool hasInstructions(const MachineModel &machine, const char *feature) {
  llvm::Triple triple(machine.code.triple);
  return triple.isAArch64() ||
         (triple.isRISCV() && feature == StringRef("fma")) ||
         llvm::is_contained(machine.code.features, feature);
}

struct CPUTarget::Lowered {
  LoweredKernels lowered;
  std::vector<CompileKernelOptions> options;
};

LogicalResult CPUTarget::lower(ModuleOp program, const EmitOptions &options,
                               Lowered &result) const {
  initializeLLVM();
  LoweringOptions lowering;
  lowering.approximate = contractsFloats() && !options.plain;
  lowering.fma = hasInstructions(machine(), "fma");
  lowering.convertsF16 = hasInstructions(machine(), "f16c");
  lowering.features = machine().code.features;
  auto lowered = lowerKernels(program, options.device, lowering);
  if (failed(lowered))
    return failure();
  for (const LoweredKernels::Kernel &kernel : lowered->kernels) {
    CompileKernelOptions &compile = result.options.emplace_back();
    compile.contractFloats =
        contractsFloats() && !options.plain && !kernel.roundsToIntegers;
    compile.optimize = optimizes() && !options.plain;
    compile.saveTemps = options.saveTemps;
    compile.nodes = kernel.nodes;
  }
  result.lowered = std::move(*lowered);
  return success();
}

FailureOr<ProgramBinary> CPUTarget::emit(ModuleOp program,
                                         const EmitOptions &options) {
  Lowered lowered;
  if (failed(lower(program, options, lowered)))
    return failure();
  auto &kernels = lowered.lowered.kernels;
  std::vector<KernelObject> objects(kernels.size() + 1);
  std::vector<std::string> errors(kernels.size());
  parallelFor(program.getContext(), 0, kernels.size(), [&](size_t i) {
    auto object = compileKernel(kernels[i].module, kernels[i].symbol, machine(),
                                lowered.options[i]);
    if (object)
      objects[i] = std::move(*object);
    else
      errors[i] = llvm::toString(object.takeError());
  });
  for (auto [i, error] : llvm::enumerate(errors))
    if (!error.empty())
      return emitError(kernels[i].module.getLoc()) << error;
  auto fail = [&](llvm::Error error) {
    llvm::handleAllErrors(std::move(error), [&](const llvm::StringError &e) {
      if (options.refused && e.convertToErrorCode() == std::errc::io_error)
        *options.refused = true;
      emitError(program.getLoc()) << e.getMessage();
    });
    return failure();
  };
  auto version = compileAbiVersion(machine());
  if (!version)
    return fail(version.takeError());
  objects.back() = std::move(*version);
  auto image = linkImage(objects, machine());
  if (!image)
    return fail(image.takeError());
  ProgramBinary binary;
  binary.format = machine().code.format;
  binary.deviceType = "cpu";
  binary.requiredFeatures = machine().code.features;
  binary.image = std::move(*image);
  for (auto [i, kernel] : llvm::enumerate(kernels))
    binary.codeBytes[kernel.symbol] = objects[i].codeBytes;
  return binary;
}

/// Where there is an operating system, the runtime is who loads the code.
static bool isBare(const MachineModel &machine) {
  return llvm::Triple(machine.code.triple).getOS() == llvm::Triple::UnknownOS;
}

std::string CPUTarget::whyNoModule() const {
  return isBare(machine())
             ? "its code is for " + machine().code.triple +
                   ", where there is no runtime; --emit=riscv-object makes an "
                   "object file of it"
             : "";
}

std::string CPUTarget::whyNoObject(bool forBare) const {
  if (isBare(machine()) == forBare)
    return "";
  return "its code is for " + machine().code.triple +
         (forBare ? "; expected cpu:riscv64 or a machine file of that kind"
                  : "; --emit=riscv-object makes an object file of it");
}

LogicalResult CPUTarget::addToObject(ModuleOp program,
                                     const EmitOptions &options,
                                     llvm::Module &object) {
  Lowered lowered;
  if (failed(lower(program, options, lowered)))
    return failure();
  if (llvm::Error error = prepareObject(object, machine()))
    return emitError(program.getLoc()) << llvm::toString(std::move(error));
  for (auto [kernel, compile] :
       llvm::zip_equal(lowered.lowered.kernels, lowered.options))
    if (llvm::Error error =
            addKernel(kernel.module, kernel.symbol, machine(), compile, object))
      return emitError(kernel.module.getLoc())
             << llvm::toString(std::move(error));
  return success();
}

FailureOr<std::string> CPUTarget::writeObject(ModuleOp program,
                                              const EmitOptions &options,
                                              llvm::Module &object) {
  auto compiled = compileModule(object, machine());
  if (!compiled)
    return emitError(program.getLoc()) << llvm::toString(compiled.takeError());
  bool hasSystem = !isBare(machine());
  for (const std::string &symbol : compiled->undefinedSymbols) {
    if (symbol == "memcpy" || symbol == "memset" ||
        (hasSystem && (isLibc(symbol) || isLibm(symbol))))
      continue;
    auto kernel =
        program.lookupSymbol<exec::KernelOp>(callerOf(*compiled, symbol));
    if (options.refused)
      *options.refused = true;
    return emitError(kernel ? kernel.getLoc() : program.getLoc())
           << "its code calls '" << symbol << "', and an object may call "
           << (hasSystem ? "C's functions on memory and its mathematics alone"
                         : "memcpy and memset alone");
  }
  return std::string(compiled->object.begin(), compiled->object.end());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LevelZeroTarget.h"
#include "../CPU/LowerKernels.h"
#include "../LLVM/KeptInMemory.h"
#include "../LLVM/LLVMModule.h"
#include "../LLVM/RunProgram.h"
#include "Ocloc.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::levelzero;

/// Whether it calls the functions of matrices.
static bool isHot(ModuleOp kernel) {
  return llvm::any_of(kernel.getBody()->getOps<SymbolOpInterface>(),
                      [](SymbolOpInterface op) {
                        return op.getName().contains(opencl::matrixFunctions);
                      });
}

static LogicalResult checkSpills(const cpu::LoweredKernels::Kernel &kernel,
                                 const KernelResources &takes,
                                 const EmitOptions &options) {
  if (takes.spillBytes == 0)
    return success();
  ModuleOp module = kernel.module;
  return sayKeptInMemory(module, "kernel " + kernel.symbol + " by ocloc",
                         std::to_string(takes.spillBytes) +
                             " bytes of a subgroup are kept in memory for want "
                             "of registers, of which it has " +
                             std::to_string(takes.registers),
                         isHot(module), options);
}

static LogicalResult refuse(ModuleOp program, const EmitOptions &options,
                            llvm::Error error) {
  if (options.refused)
    *options.refused = true;
  return emitError(program.getLoc()) << llvm::toString(std::move(error));
}

LogicalResult LevelZeroTarget::finish(ModuleOp program,
                                      const cpu::LoweredKernels &lowered,
                                      const EmitOptions &options,
                                      ProgramBinary &binary) const {
  const std::string &gpu = machine().code.processor;
  if (gpu == "generic" && isOcloc(options.assembler))
    return refuse(program, options,
                  llvm::createStringError(
                      "--assembler: expected a GPU that ocloc makes machine "
                      "code for, such as level-zero:pvc, found generic"));
  if (gpu == "generic" || lowered.kernels.empty())
    return success();
  auto found = Ocloc::find(options.assembler);
  if (!found)
    return refuse(program, options, found.takeError());
  auto sayAlone = [&](const std::string &why) {
    remark::missed(program.getLoc(), about(program, "MachineCode", "code"))
        << "SPIR-V alone for " << gpu
        << ", which the driver compiles at load: " << why;
    return success();
  };
  if (!*found)
    return sayAlone("Intel's compiler ocloc is not asked (ASHLAR_OCLOC)");
  SmallVector<llvm::StringRef> all;
  std::vector<std::string> withMatrices;
  for (const cpu::LoweredKernels::Kernel &kernel : lowered.kernels) {
    all.push_back(kernel.symbol);
    if (ModuleOp module = kernel.module; isHot(module))
      withMatrices.push_back(kernel.symbol);
  }
  auto native = (*found)->compile(binary.image, gpu, all, withMatrices);
  if (!native) {
    llvm::Error why = native.takeError();
    // Nobody waits that long for nothing, each time.
    if (isTooLate(why))
      return refuse(program, options, std::move(why));
    return sayAlone(llvm::toString(std::move(why)));
  }
  saveBytes(options.saveTemps, "kernels.zebin", native->image);
  bool isSound = true;
  for (const cpu::LoweredKernels::Kernel &kernel : lowered.kernels) {
    const NativeKernel &own = native->kernels[kernel.symbol];
    binary.resources[kernel.symbol] = own.resources;
    binary.codeBytes[kernel.symbol] = own.codeBytes;
    isSound &= succeeded(checkSpills(kernel, own.resources, options));
  }
  binary.otherForms.push_back({binary.format, std::move(binary.image)});
  binary.format = "zebin-" + gpu;
  binary.image = std::move(native->image);
  binary.madeBy = "ocloc";
  remark::passed(program.getLoc(), about(program, "MachineCode", "code"))
      << "machine code for " << gpu << " by ocloc";
  return success(isSound);
}

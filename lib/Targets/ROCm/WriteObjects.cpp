// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WriteObjects.h"
#include "../LLVM/LLVMModule.h"
#include "../LLVM/ThreadCode.h"
#include "CodeObject.h"
#include "KernelEntry.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace ashlar;
using namespace ashlar::rocm;

/// What of a launch is handed to a kernel, and what is not, is said by
/// attributes that this pass finds; whoever says none is handed all of it.
static constexpr char attributePasses[] = "amdgpu-attributor";

/// The form of what describes kernels: that of drivers from ROCm 5 on.
static constexpr unsigned codeObjectVersion = 500;

static bool multipliesMatrices(const Function &entry) {
  for (const Instruction &instruction : instructions(entry))
    if (auto *call = dyn_cast<CallInst>(&instruction))
      if (Function *callee = call->getCalledFunction())
        if (callee->getName().starts_with("llvm.amdgcn.mfma.") ||
            callee->getName().starts_with("llvm.amdgcn.wmma."))
          return true;
  return false;
}

/// Another order of instructions where that which hides latency needs more
/// registers than there are; it stays if a thread keeps less in memory.
static Error scheduleForRegisters(Module &module, StringRef symbol,
                                  TargetMachine &target,
                                  SmallVector<char, 0> &object) {
  auto stackOf = [](const SmallVector<char, 0> &of) -> Expected<uint64_t> {
    auto found = resourcesOf(StringRef(of.data(), of.size()));
    return found ? Expected<uint64_t>(found->stackBytes) : found.takeError();
  };
  auto first = stackOf(object);
  if (!first || *first == 0)
    return first.takeError();
  module.getFunction(symbol)->addFnAttr("amdgpu-sched-strategy",
                                        "iterative-minreg");
  auto other = writeObjectFile(module, target);
  if (!other)
    return other.takeError();
  auto second = stackOf(*other);
  if (!second)
    return second.takeError();
  if (*second < *first)
    object = std::move(*other);
  return Error::success();
}

Expected<CompiledKernel>
ashlar::rocm::compileKernel(const cpu::LoweredKernels::Kernel &kernel,
                            const MachineModel &machine,
                            const WriteOptions &options) {
  CompiledNodes nodes(kernel.nodes);
  LLVMContext context;
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  auto translated =
      translateKernel(kernel.module, kernel.symbol, **target, context);
  if (!translated)
    return translated.takeError();
  std::unique_ptr<Module> module = std::move(*translated);
  module->addModuleFlag(Module::Error, "amdhsa_code_object_version",
                        codeObjectVersion);
  moveAllocations(*module);
  Function &entry = addKernelEntry(*module, kernel.symbol, kernel.threads);
  saveText(options.saveTemps, kernel.symbol + ".ll", *module);
  HeldDiagnostics diagnostics(context);
  for (StringRef passes : {options.optimize ? kernelPasses : plainPasses,
                           joiningPasses, attributePasses})
    if (Error error = optimizeModule(*module, **target, passes))
      return error;
  if (Error error = diagnostics.take())
    return error;
  saveText(options.saveTemps, kernel.symbol + ".opt.ll", *module);
  if (Error error = checkCalls(*module, "AMD's GPUs", "rocm"))
    return error;
  CompiledKernel compiled;
  compiled.multipliesMatrices = multipliesMatrices(entry);
  // Writing it changes it.
  std::unique_ptr<Module> again =
      compiled.multipliesMatrices ? CloneModule(*module) : nullptr;
  auto object = writeObjectFile(*module, **target);
  if (!object)
    return object.takeError();
  compiled.object = std::move(*object);
  if (again)
    if (Error error = scheduleForRegisters(*again, kernel.symbol, **target,
                                           compiled.object))
      return error;
  return compiled;
}

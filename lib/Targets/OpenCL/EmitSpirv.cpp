// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's writer of SPIR-V keeps the ids of blocks for as long as the process
// lives, by the address of their MachineFunction. A later module that has one
// at an address of an earlier one's would be given ids that are others'. So all
// addresses are kept: a word for each kernel that the process has written.
#include "EmitSpirv.h"
#include "../LLVM/LLVMModule.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include <mutex>

using namespace llvm;
using namespace ashlar;

namespace {
/// What all modules of this process share.
struct Written {
  std::mutex mutex;
  DenseSet<const void *> addresses; ///< functions' that have been written
};
} // namespace

static Written &written() {
  static Written all;
  return all;
}

/// Gives each function the place of its code where none was before.
static void insertFunctions(Module &module, TargetMachine &target,
                            MachineModuleInfo &info,
                            DenseSet<const void *> &addresses) {
  std::vector<std::unique_ptr<MachineFunction>> inTheWay;
  unsigned number = 0;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    const TargetSubtargetInfo &subtarget = *target.getSubtargetImpl(function);
    auto make = [&] {
      return std::make_unique<MachineFunction>(function, target, subtarget,
                                               info.getContext(), number);
    };
    std::unique_ptr<MachineFunction> made = make();
    while (!addresses.insert(made.get()).second) {
      inTheWay.push_back(std::move(made));
      made = make();
    }
    ++number;
    made->initTargetMachineFunctionInfo(subtarget);
    target.registerMachineRegisterInfoCallback(*made);
    info.insertFunction(function, std::move(made));
  }
}

Expected<SmallVector<char, 0>>
ashlar::opencl::emitSpirv(Module &module, TargetMachine &target) {
  Written &all = written();
  std::lock_guard<std::mutex> lock(all.mutex);
  HeldDiagnostics diagnostics(module.getContext());
  SmallVector<char, 0> words;
  raw_svector_ostream stream(words);
  legacy::PassManager passes;
  // The passes own it.
  auto *info = new MachineModuleInfoWrapperPass(&target);
  if (target.addPassesToEmitFile(passes, stream, nullptr,
                                 CodeGenFileType::ObjectFile,
                                 /*DisableVerify=*/true, info))
    return createStringError("this LLVM cannot write SPIR-V");
  insertFunctions(module, target, info->getMMI(), all.addresses);
  passes.run(module);
  if (Error error = diagnostics.take())
    return error;
  return words;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets share whose code LLVM writes.
#ifndef ASHLAR_LIB_TARGETS_LLVM_LLVMMODULE_H
#define ASHLAR_LIB_TARGETS_LLVM_LLVMMODULE_H

#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

namespace llvm {
class PassBuilder;
}

namespace ashlar {

/// All of LLVM's targets, once.
void initializeLLVM();

struct TargetMachineOptions {
  llvm::TargetOptions target;
  std::optional<llvm::Reloc::Model> relocation;
  std::optional<llvm::CodeModel::Model> codeModel;
  llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Default;
};
/// For a machine's triple, processor and features.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const MachineModel &machine,
                    const TargetMachineOptions &options);
/// Whose code it is to become.
void setTarget(llvm::Module &module, const llvm::TargetMachine &target);
/// Of a kernel in the dialect of LLVM, by the name of its symbol.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateKernel(mlir::ModuleOp source, llvm::StringRef symbol,
                const llvm::TargetMachine &target, llvm::LLVMContext &context);

/// While it lives, what LLVM calls fatal, from which it does not return, names
/// `nodes`, those of the kernel that this thread compiles, and ends the process
/// with 70.
class CompiledNodes {
public:
  explicit CompiledNodes(const std::string &nodes);
  ~CompiledNodes();
};

/// Holds what LLVM says of a module while it is worked on. Without a handler
/// its errors end the process, from whichever thread they are met on.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(llvm::LLVMContext &context);
  ~HeldDiagnostics();
  /// All errors so far.
  llvm::Error take();

private:
  struct Handler;
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> before;
  std::string errors;
};

/// What LLVM has left to do: kernels come with their loops, vectors and
/// registers chosen, so all the passes of -O1 would make a whole compile take
/// 1.4 times as long and change no kernel's time (measured with a text
/// detector of 132 kernels).
extern const char *const kernelPasses;
/// Of what is compiled to be believed: the call of the body is inlined.
extern const char *const plainPasses;

/// Runs the passes that `add` adds, with all analyses at hand.
llvm::Error runPasses(llvm::Module &module, llvm::TargetMachine &target,
                      llvm::function_ref<llvm::Error(llvm::PassBuilder &,
                                                     llvm::ModulePassManager &)>
                          add);
/// `passes` in the text form of LLVM's opt.
llvm::Error optimizeModule(llvm::Module &module, llvm::TargetMachine &target,
                           llvm::StringRef passes);

/// The object file, or what stands for one with that target.
llvm::Expected<llvm::SmallVector<char, 0>>
writeObjectFile(llvm::Module &module, llvm::TargetMachine &target);
/// The text of its instructions.
llvm::Expected<llvm::SmallVector<char, 0>>
writeAssembly(llvm::Module &module, llvm::TargetMachine &target);

/// For looking at: does nothing where the folder is empty, and a file less is
/// no reason to fail.
void saveText(const std::string &folder, llvm::StringRef name,
              const llvm::Module &module);
void saveBytes(const std::string &folder, llvm::StringRef name,
               llvm::StringRef bytes);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_LLVMMODULE_H

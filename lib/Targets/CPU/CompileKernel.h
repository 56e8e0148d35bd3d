// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_COMPILEKERNEL_H
#define ASHLAR_LIB_TARGETS_CPU_COMPILEKERNEL_H

#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class Module;
}

namespace ashlar::cpu {

struct CompileKernelOptions {
  bool contractFloats = true;
  bool optimize = true;
  std::string saveTemps;
  /// The model's nodes that the kernel is of, for errors.
  std::string nodes;
};

/// An ELF object and what its function occupies.
struct KernelObject {
  llvm::SmallVector<char, 0> object;
  uint64_t codeBytes = 0;
  std::vector<std::string> undefinedSymbols;
};

/// Translates a module in the LLVM dialect that holds the function `symbol`
/// (one pointer per buffer, scratch, first group, end) and compiles it behind
/// a function of the runtime's kernel ABI. Thread-safe for different modules.
/// What LLVM refuses is the error returned; where it cannot go on, the process
/// ends with 70, having named the nodes.
llvm::Expected<KernelObject> compileKernel(mlir::ModuleOp module,
                                           llvm::StringRef symbol,
                                           const MachineModel &machine,
                                           const CompileKernelOptions &options);

/// For a program that is one object: gives `object` its machine; adds a kernel
/// to it, as an internal function; and compiles it.
llvm::Error prepareObject(llvm::Module &object, const MachineModel &machine);
llvm::Error addKernel(mlir::ModuleOp module, llvm::StringRef symbol,
                      const MachineModel &machine,
                      const CompileKernelOptions &options,
                      llvm::Module &object);
llvm::Expected<KernelObject> compileModule(llvm::Module &module,
                                           const MachineModel &machine);
/// A function of the object that calls `undefined`; empty: none was found.
std::string callerOf(const KernelObject &object, llvm::StringRef undefined);

/// An object that defines `symbols` as functions or, for the ABI's version, as
/// data; used for what is linked beside the kernels.
llvm::Expected<KernelObject> compileAbiVersion(const MachineModel &machine);
llvm::Expected<KernelObject>
compileStub(const MachineModel &machine,
            const std::vector<std::string> &symbols);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_COMPILEKERNEL_H

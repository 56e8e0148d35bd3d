// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels in the LLVM dialect to one SPIR-V module, by LLVM's back end.
#ifndef ASHLAR_LIB_TARGETS_OPENCL_WRITESPIRV_H
#define ASHLAR_LIB_TARGETS_OPENCL_WRITESPIRV_H

#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar::opencl {

struct KernelSource {
  mlir::ModuleOp module; ///< holds the function `symbol`
  std::string symbol;
  std::string nodes; ///< of the model, for errors
  int64_t threads;   ///< of a workgroup
};

struct WriteOptions {
  bool optimize = true;
  std::string saveTemps;
};

/// A kernel as LLVM's bitcode, behind its entry. Thread-safe for different
/// modules. Where LLVM cannot go on, the process ends with 70, having named the
/// nodes.
llvm::Expected<llvm::SmallVector<char, 0>>
compileKernel(const KernelSource &kernel, const MachineModel &machine,
              const WriteOptions &options);

struct SpirvImage {
  std::string words;
  llvm::StringMap<uint64_t> codeBytes; ///< of each kernel's function
  /// Extensions that the device must have, in OpenCL's names.
  std::vector<std::string> extensions;
};

/// All of them in one module.
llvm::Expected<SpirvImage>
writeSpirv(llvm::ArrayRef<llvm::SmallVector<char, 0>> kernels,
           const MachineModel &machine, const WriteOptions &options);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_WRITESPIRV_H

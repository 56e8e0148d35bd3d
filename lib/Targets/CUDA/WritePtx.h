// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels in the LLVM dialect to PTX, by LLVM's back end.
#ifndef ASHLAR_LIB_TARGETS_CUDA_WRITEPTX_H
#define ASHLAR_LIB_TARGETS_CUDA_WRITEPTX_H

#include "../CPU/LowerKernels.h"
#include "ashlar/Machine/MachineModel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar::cuda {

struct WriteOptions {
  bool optimize = true;
  /// Values are computed where they are used, not ahead: in fewer registers.
  bool sinks = false;
  /// The assembler unrolls no loops.
  bool keepsLoops = false;
  bool hasLines = false; ///< that name nodes
  std::string saveTemps;
};

/// Of a kernel, in a module of PTX of its own.
struct CompiledKernel {
  std::string text;
  uint64_t sharedBytes = 0; ///< that its launch has to ask for
};

/// A kernel behind its entry. Thread-safe for different modules. Where LLVM
/// cannot go on, the process ends with 70, having named the nodes.
llvm::Expected<CompiledKernel>
compileKernel(const cpu::LoweredKernels::Kernel &kernel,
              const MachineModel &machine, const WriteOptions &options);

/// The assembler need not spare registers so that more blocks run at once, for
/// which it keeps a few bytes in memory.
void askForOneBlock(CompiledKernel &kernel);

/// All of them in one module, which a program without kernels has as well.
llvm::Expected<std::string> joinModules(llvm::ArrayRef<CompiledKernel> kernels,
                                        const MachineModel &machine);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_WRITEPTX_H

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

/// Ways to the same kernel in fewer registers.
struct WriteWay {
  /// Values are computed where they are used, not ahead.
  bool sinks = false;
  /// Addresses in loops stay what they are: none is kept for each use of one.
  bool keepsAddresses = false;
  /// The assembler unrolls no loops.
  bool keepsLoops = false;
};

struct WriteOptions {
  bool optimize = true;
  bool hasLines = false; ///< that name nodes
  std::string saveTemps;
};

/// Of a kernel, in a module of PTX of its own.
struct CompiledKernel {
  std::string text;
  uint64_t sharedBytes = 0; ///< that its launch has to ask for
  std::string optimized;    ///< LLVM's bitcode, of which the text was made
};

/// A kernel behind its entry. Thread-safe for different modules. Where LLVM
/// cannot go on, the process ends with 70, having named the nodes.
llvm::Expected<CompiledKernel>
compileKernel(const cpu::LoweredKernels::Kernel &kernel,
              const MachineModel &machine, const WriteOptions &options);

/// Its text made anew, in another way.
llvm::Expected<CompiledKernel> writeAnew(const CompiledKernel &kernel,
                                         const MachineModel &machine,
                                         const WriteWay &way);

/// The assembler need not spare registers so that more blocks run at once, for
/// which it keeps a few bytes in memory.
void askForOneBlock(CompiledKernel &kernel);

/// Roles keep the registers that all threads get. What ptxas computes in front
/// of them it keeps in memory where roles share registers out, some of which
/// have few. False: they do not.
bool keepRegisters(CompiledKernel &kernel);

/// All of them in one module, which a program without kernels has as well.
llvm::Expected<std::string> joinModules(llvm::ArrayRef<CompiledKernel> kernels,
                                        const MachineModel &machine);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_WRITEPTX_H

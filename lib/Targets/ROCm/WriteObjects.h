// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels in the LLVM dialect to objects, by LLVM's back end.
#ifndef ASHLAR_LIB_TARGETS_ROCM_WRITEOBJECTS_H
#define ASHLAR_LIB_TARGETS_ROCM_WRITEOBJECTS_H

#include "../CPU/LowerKernels.h"
#include "ashlar/Machine/MachineModel.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace ashlar::rocm {

struct WriteOptions {
  bool optimize = true;
  std::string saveTemps;
};

struct CompiledKernel {
  llvm::SmallVector<char, 0> object;
  bool multipliesMatrices = false; ///< by a unit of its own
};

/// A kernel behind its entry. Thread-safe for different modules. Where LLVM
/// cannot go on, the process ends with 70, having named the nodes.
llvm::Expected<CompiledKernel>
compileKernel(const cpu::LoweredKernels::Kernel &kernel,
              const MachineModel &machine, const WriteOptions &options);

} // namespace ashlar::rocm

#endif // ASHLAR_LIB_TARGETS_ROCM_WRITEOBJECTS_H

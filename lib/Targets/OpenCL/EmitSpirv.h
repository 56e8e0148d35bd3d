// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_OPENCL_EMITSPIRV_H
#define ASHLAR_LIB_TARGETS_OPENCL_EMITSPIRV_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace ashlar::opencl {

/// The words of a module of SPIR-V: the same ones whatever this process has
/// written before, one module at a time.
llvm::Expected<llvm::SmallVector<char, 0>>
emitSpirv(llvm::Module &module, llvm::TargetMachine &target);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_EMITSPIRV_H

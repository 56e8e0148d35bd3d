// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_LLVM_KEPTINMEMORY_H
#define ASHLAR_LIB_TARGETS_LLVM_KEPTINMEMORY_H

#include "ashlar/Targets/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace ashlar {

/// Says that threads of a kernel keep in memory what should be in registers. Of
/// a hot one, which multiplies by a matrix unit, that is a warning, with
/// `strict` an error, a failure then; nothing is said where another strategy is
/// tried. Of others it is a remark. `who` is the kernel, `found` begins with
/// the bytes.
llvm::LogicalResult sayKeptInMemory(mlir::ModuleOp kernel, llvm::StringRef who,
                                    llvm::StringRef found, bool isHot,
                                    const EmitOptions &options);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_KEPTINMEMORY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operands of a kernel its result may lie over.
#ifndef ASHLAR_DIALECTS_EXEC_UTILS_ALIASES_H
#define ASHLAR_DIALECTS_EXEC_UTILS_ALIASES_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ashlar {

/// To be called where `body`, which has memory for its operands, may now write
/// an element of the result before another one is read: what it reads keeps its
/// memory. An operand that it does not read, such as a state of which the
/// result changes a part, may stay below the result.
void removeReadAliases(exec::KernelOp kernel, mlir::func::FuncOp body);

} // namespace ashlar

#endif // ASHLAR_DIALECTS_EXEC_UTILS_ALIASES_H

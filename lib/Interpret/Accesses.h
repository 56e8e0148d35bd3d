// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single elements of memory, read and written under the eyes of the tasks that
// have been begun.
#ifndef ASHLAR_LIB_INTERPRET_ACCESSES_H
#define ASHLAR_LIB_INTERPRET_ACCESSES_H

#include "Machine.h"

namespace ashlar::interpret {

/// Fails where the element does not exist, or belongs to a task.
[[nodiscard]] Outcome mayRead(Machine &machine, mlir::Operation *op,
                              const View &view, llvm::ArrayRef<int64_t> index);
[[nodiscard]] Outcome load(Machine &machine, mlir::Operation *op,
                           const View &view, llvm::ArrayRef<int64_t> index,
                           Number &number);
[[nodiscard]] Outcome store(Machine &machine, mlir::Operation *op,
                            const View &view, llvm::ArrayRef<int64_t> index,
                            Number number);

} // namespace ashlar::interpret

#endif // ASHLAR_LIB_INTERPRET_ACCESSES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_DISPATCHES_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_DISPATCHES_H

#include "mlir/IR/Operation.h"

namespace ashlar {

/// Which of the program's devices computes `op`.
int64_t deviceOf(mlir::Operation *op);

/// Says what one kernel computes, the last of `ops` with all others, or what
/// keeps a single one from more.
void explainDispatch(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_DISPATCHES_H

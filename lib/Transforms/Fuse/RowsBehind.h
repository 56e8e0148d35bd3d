// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host would make of a contraction's result, and which of it may be
// part of the contraction: a softmax or a norm, and rounding. Kernels are
// dispatches, or linalg.generic ops where there are none yet.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_ROWSBEHIND_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_ROWSBEHIND_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace ashlar {

/// The longest chain of kernels and reshapes with sums or maxima along rows
/// that is all that reads the contraction in `from`, in the order of the text;
/// empty: there is none. Whether a device can is another matter.
llvm::SmallVector<mlir::Operation *> rowsBehind(mlir::Operation *from);

/// A kernel that rounds `value` and does nothing else, in its block; or null.
mlir::Operation *roundingOf(mlir::Value value);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_ROWSBEHIND_H

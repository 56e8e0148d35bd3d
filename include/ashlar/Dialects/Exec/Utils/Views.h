// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tensor ops are only another look at the same bytes.
#ifndef ASHLAR_DIALECTS_EXEC_UTILS_VIEWS_H
#define ASHLAR_DIALECTS_EXEC_UTILS_VIEWS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace ashlar {

/// On a slice that is no view at some of the sizes that a caller chooses, which
/// then is none at any.
inline constexpr llvm::StringLiteral copiedAttrName = "exec.copied";

/// Whether a slice looks at bytes side by side, but not where operands of
/// kernels may begin.
bool isUnalignedView(mlir::Operation *op);

/// A reshape, or a slice whose elements are contiguous in its source.
bool isView(mlir::Operation *op);

/// What `value` looks at through a chain of views; itself if it is none.
mlir::Value viewed(mlir::Value value);

/// Where a view begins in its source, in elements. `op` is a view.
int64_t viewOffset(mlir::Operation *op);

} // namespace ashlar

#endif // ASHLAR_DIALECTS_EXEC_UTILS_VIEWS_H

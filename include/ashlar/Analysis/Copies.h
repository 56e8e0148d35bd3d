// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_COPIES_H
#define ASHLAR_ANALYSIS_COPIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace ashlar {

/// Whether the op gives out what its only input has, moved at most.
bool isCopy(mlir::linalg::GenericOp op);

/// Where each point of a copy's result lies in its source, if all that the copy
/// changes is the order of dims.
std::optional<mlir::AffineMap> permutationOf(mlir::linalg::GenericOp op);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_COPIES_H

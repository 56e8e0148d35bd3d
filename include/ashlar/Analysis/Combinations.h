// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_COMBINATIONS_H
#define ASHLAR_ANALYSIS_COMBINATIONS_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace ashlar {

/// What changes no value that `op` combines with it; nullopt: `op` is none of
/// those that combine two values in one, in any order, with the same bits
/// whichever of both stands first.
std::optional<mlir::TypedAttr> neutralOf(mlir::Operation *op);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_COMBINATIONS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_COMBINATIONS_H
#define ASHLAR_ANALYSIS_COMBINATIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace ashlar {

/// What changes no value that `op` combines with it; nullopt: `op` is none of
/// those that combine two values in one, in any order, with the same bits
/// whichever of both stands first.
std::optional<mlir::TypedAttr> neutralOf(mlir::Operation *op);

/// What one output of a reduction is combined by.
struct Combination {
  mlir::Value term;    ///< of the body: what joins the value so far
  mlir::Operation *op; ///< of the body: the two in one
  mlir::TypedAttr neutral;

  /// A clone of `op` that makes one of `before` and `term`.
  mlir::Value write(mlir::OpBuilder &b, mlir::Value before,
                    mlir::Value term) const;
};

/// Of a chain of one op, whose order does not matter.
std::optional<Combination> combinationOf(mlir::linalg::GenericOp op,
                                         unsigned out);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_COMBINATIONS_H

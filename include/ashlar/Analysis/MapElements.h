// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes elementwise ops of one operand.
#ifndef ASHLAR_ANALYSIS_MAPELEMENTS_H
#define ASHLAR_ANALYSIS_MAPELEMENTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ashlar {

/// Makes an element of the result from one of the source.
using ElementBody = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::Value)>;

/// A tensor of the source's shape and another element type.
mlir::linalg::GenericOp mapElements(mlir::OpBuilder &b, mlir::Location loc,
                                    mlir::Value source, mlir::Type element,
                                    ElementBody body);

/// A tensor of this static shape whose element at i is the source's at read(i).
mlir::linalg::GenericOp copyElements(mlir::OpBuilder &b, mlir::Location loc,
                                     mlir::Value source, mlir::AffineMap read,
                                     llvm::ArrayRef<int64_t> shape);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_MAPELEMENTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which contraction an elementwise op will be part of: of those whose sums it
// reads in place, the first. Others are stored.
#ifndef ASHLAR_ANALYSIS_SUMS_H
#define ASHLAR_ANALYSIS_SUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ashlar {

/// Whether a contraction's sums come to `value` by elementwise ops on the way
/// of which nobody else reads.
bool bringsSums(mlir::Value value);

/// Whether the reader of these sums reads those of another contraction first.
bool followsOtherSums(mlir::OpOperand &use);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_SUMS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of elementwise ops and reductions that work row by row, such as a
// softmax or a layer norm: what a row needs is made from that row alone.
#ifndef ASHLAR_ANALYSIS_ROWDIMS_H
#define ASHLAR_ANALYSIS_ROWDIMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ashlar {

/// How many leading dims all of `ops` have in common: each runs over them in
/// parallel, and passes on to the others only what has the same places in them.
int64_t countRowDims(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_ROWDIMS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_MERGEPARTS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_MERGEPARTS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// One pass over the places of a result whose parts lie in `inputs`, by `maps`:
/// `merge` makes one number of those of a place, in which the body of `op`, a
/// contraction or an attention, says what follows. Returns the result.
template <typename Op>
mlir::Value
mergeParts(Op op, mlir::ArrayRef<mlir::Value> inputs,
           mlir::ArrayRef<mlir::AffineMap> maps,
           llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                          mlir::ValueRange)>
               merge);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_MERGEPARTS_H

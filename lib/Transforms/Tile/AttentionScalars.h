// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both ways of writing an attention do with single numbers.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_ATTENTIONSCALARS_H
#define ASHLAR_LIB_TRANSFORMS_TILE_ATTENTIONSCALARS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// A number that is `special` becomes `instead`.
mlir::Value replaceNumber(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value, mlir::Value special,
                          mlir::Value instead);

/// What the body of a region makes of `arguments`; `placeOf` gives the place of
/// a score along the dim that a `tile.index` names.
mlir::Value inlineBody(mlir::OpBuilder &b, mlir::Region &region,
                       mlir::ValueRange arguments,
                       llvm::function_ref<mlir::Value(tile::IndexOp)> placeOf);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_ATTENTIONSCALARS_H

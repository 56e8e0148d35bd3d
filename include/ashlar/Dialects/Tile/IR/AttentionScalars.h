// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all ways of writing an attention do with single numbers.
#ifndef ASHLAR_DIALECTS_TILE_IR_ATTENTIONSCALARS_H
#define ASHLAR_DIALECTS_TILE_IR_ATTENTIONSCALARS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar::tile {

/// A number that is `special` becomes `instead`.
mlir::Value replaceNumber(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value, mlir::Value special,
                          mlir::Value instead);

/// What the body of a region makes of `arguments`; `placeOf` gives the place of
/// a score along the dim that a `tile.index` names.
mlir::Value inlineBody(mlir::OpBuilder &b, mlir::Region &region,
                       mlir::ValueRange arguments,
                       llvm::function_ref<mlir::Value(IndexOp)> placeOf);

} // namespace ashlar::tile

#endif // ASHLAR_DIALECTS_TILE_IR_ATTENTIONSCALARS_H

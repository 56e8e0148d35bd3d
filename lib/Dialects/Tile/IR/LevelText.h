// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DIALECTS_TILE_IR_LEVELTEXT_H
#define ASHLAR_LIB_DIALECTS_TILE_IR_LEVELTEXT_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar::tile {

/// `group warpgroup [64, 256]`; null: an error has been said.
LevelAttr parseLevel(mlir::AsmParser &parser);
void printLevel(mlir::AsmPrinter &printer, LevelAttr level);

} // namespace ashlar::tile

#endif // ASHLAR_LIB_DIALECTS_TILE_IR_LEVELTEXT_H

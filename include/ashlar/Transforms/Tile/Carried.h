// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_TILE_CARRIED_H
#define ASHLAR_TRANSFORMS_TILE_CARRIED_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ashlar {

/// The loop that carries `value` from an iteration to the next, as its argument
/// or result of that number, or null.
mlir::scf::ForOp loopCarrying(mlir::Value value, unsigned &number);

/// What a value that loops may carry began as.
mlir::Value originOf(mlir::Value value);

/// The ring of a slot that loops may carry; null: not known.
mlir::TypedValue<tile::RingType> ringOf(mlir::Value slot);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_CARRIED_H

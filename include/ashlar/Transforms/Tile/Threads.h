// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_TILE_THREADS_H
#define ASHLAR_TRANSFORMS_TILE_THREADS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ashlar {

/// On a function whose threads compute each part of it together.
inline constexpr llvm::StringLiteral threadsAttrName = "tile.threads";

/// On a `tile.drain`: which of the machine's copy engines its results leave by
/// where they can.
inline constexpr llvm::StringLiteral storesAttrName = "tile.stores";

/// Whether an input has one number for each row of the result, which the
/// threads that hold the row have.
bool isOfRows(tile::MapOp op, unsigned input);

/// Whether a thread needs of an input what others have: memory that they share
/// passes it on.
bool isExchanged(tile::MapOp op, unsigned input);

/// The most bytes of shared memory that are in use at one time of a function:
/// what it allocates, slots of rings, what passes between threads.
int64_t sharedBytes(mlir::func::FuncOp function);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_THREADS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_TILE_EXPANDCONTRACT_H
#define ASHLAR_TRANSFORMS_TILE_EXPANDCONTRACT_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// Writes the loops of the strategy that `op` has in place of it. Fails, with
/// an error at `op`, where they cannot be written.
llvm::LogicalResult expandContract(tile::ContractOp op);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_EXPANDCONTRACT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention whose grid shares out keys, for where there are fewer rows than
// workers (Dao et al., "Flash-Decoding for long-context inference", 2023).
#ifndef ASHLAR_DIALECTS_TILE_IR_KEYPARTS_H
#define ASHLAR_DIALECTS_TILE_IR_KEYPARTS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar::tile {

/// Among how many parts a grid shares out keys; 1: each part has all of them.
int64_t countKeyParts(AttentionOp op);

} // namespace ashlar::tile

#endif // ASHLAR_DIALECTS_TILE_IR_KEYPARTS_H

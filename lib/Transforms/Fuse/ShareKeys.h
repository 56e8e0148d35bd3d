// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_SHAREKEYS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_SHAREKEYS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// Whether the keys of such an attention may be shared out among so many parts:
/// it stores nothing but its results, at places of their own, and a row has
/// columns for what is known of each part.
bool canShareKeys(tile::AttentionOp op, int64_t parts);

/// The attention with levels whose grid takes `keys` at a time, in place of
/// `op`, and what merges the parts, always in their order, divides, and goes
/// through the body: one pass over the result. Erases `op`.
tile::AttentionOp shareKeys(tile::AttentionOp op, int64_t keys);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_SHAREKEYS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_DECODEOPERAND_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_DECODEOPERAND_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// Lets `op` read an elementwise op whose result is an operand of it and of its
/// variants alone, and takes at least twice the bytes of what it is made of, as
/// a `tile.decode`. The bytes that a kernel of its own would read and write;
/// none: there is no such op, and nothing changed.
std::optional<int64_t> decodeOperand(tile::ContractOp op);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_DECODEOPERAND_H

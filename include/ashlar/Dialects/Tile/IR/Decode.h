// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_TILE_IR_DECODE_H
#define ASHLAR_DIALECTS_TILE_IR_DECODE_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

#define GET_OP_CLASSES
#include "ashlar/Dialects/Tile/IR/Decode.h.inc"

namespace ashlar::tile {

/// What computes this memory, or that which it is a view of, where it is read;
/// null: it is memory.
DecodeOp decodeOf(mlir::Value memory);

/// Whether an operand is a tensor with zeros around it, which no memory has.
bool hasMargins(mlir::Value operand);

} // namespace ashlar::tile

#endif // ASHLAR_DIALECTS_TILE_IR_DECODE_H

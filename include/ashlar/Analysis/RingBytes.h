// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_RINGBYTES_H
#define ASHLAR_ANALYSIS_RINGBYTES_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// Bytes at whose multiples buffers in the memory of a workgroup begin.
inline constexpr int64_t sharedAlignment = 64;
/// The same of slots with a swizzle or blocks, whose places in a row of 128
/// bytes depend on which of 8 rows it is.
inline constexpr int64_t swizzledAlignment = 1024;

/// Slots of the rings that a contraction's operands are read from, with what
/// their layouts leave free. Rings on the way there are registers.
int64_t ringBytes(tile::ContractOp op, tile::StrategyAttr strategy);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_RINGBYTES_H

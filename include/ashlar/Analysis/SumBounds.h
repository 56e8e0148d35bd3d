// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between which bounds the sums of a contraction of bytes lie.
#ifndef ASHLAR_ANALYSIS_SUMBOUNDS_H
#define ASHLAR_ANALYSIS_SUMBOUNDS_H

#include "ashlar/Analysis/ElementRanges.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// On a contraction of a device whose arrays keep sums in fewer bits than its
/// accumulator: they were found to fit there.
inline constexpr llvm::StringLiteral sumBitsAttrName = "tile.sum_bits";

struct SumBounds {
  double least, most;
  /// Whether an integer of so many bits, one of them the sign, holds them.
  bool fit(int64_t bits) const;
};

/// Of signed bytes, without what the body makes of them. Those of any part of
/// the terms lie there, too. Of constant weights what those of one column add
/// up to; `a`: what the other factor's elements are.
SumBounds boundSums(tile::ContractOp op, int64_t leastA = -128,
                    int64_t mostA = 127);

/// The same, with what is known of the elements of `a`.
SumBounds boundSums(tile::ContractOp op, ElementRanges &ranges);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_SUMBOUNDS_H

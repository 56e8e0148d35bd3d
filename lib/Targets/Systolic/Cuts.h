// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the loops of a strategy cut a contraction, as the machine counts it:
// chunks of rows, blocks of columns, ranges of folds.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_CUTS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_CUTS_H

#include "ChipLayout.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Refusal.h"

namespace ashlar::systolic {

/// Of a contraction whose folds are those of `layout`. Refused where a tile is
/// none that the machine has.
Refusal cutsOf(tile::StrategyAttr strategy, const ChipLayout &layout,
               Cuts &cuts);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_CUTS_H

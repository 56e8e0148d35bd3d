// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a strategy's loops do, one tile after the other: the shared expansion
// writes them, and a walk over them notes what is copied, multiplied and
// drained.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_TRACETILES_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_TRACETILES_H

#include "Contraction.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Refusal.h"

namespace ashlar::systolic {

/// Points of a contraction, by dim.
struct DimBox {
  llvm::SmallVector<int64_t> begin, size;
};

/// The steps on one accumulator, from `tile.init` to `tile.drain`.
using TracedBlock = std::vector<DimBox>;

/// The accumulators of the loops of a contraction, in their order. Refused
/// where the loops have what no stream does.
Refusal traceTiles(const Contraction &contraction, tile::StrategyAttr strategy,
                   std::vector<TracedBlock> &blocks);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_TRACETILES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was chosen for a contraction as its strategy, and back: streams are
// written from strategies, whoever has set them.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_STRATEGIES_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_STRATEGIES_H

#include "Lowering.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Refusal.h"

namespace ashlar::systolic {

/// Of the contraction that `op` is and `part` computes. What levels cannot say
/// is in `hints`; docs/systolic.md lists them.
tile::StrategyAttr strategyOf(tile::ContractOp op, const Part &part,
                              const Machine &machine);

/// Takes from a strategy what it says of `part` and its contraction, `whole` as
/// it was read, in the form that the strategy asks for. Refused where it is
/// none for this machine.
Refusal readStrategy(tile::StrategyAttr strategy, const Contraction &whole,
                     const Machine &machine, Contraction &form, Part &part);

/// Rows of the scratchpad that hold values between contractions of a stream.
int64_t keptRowsOf(tile::StrategyAttr strategy);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_STRATEGIES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The levels of a contraction on a machine with scopes: tiles of a grid's
// parts, of the groups that share one, and of what is copied near, by the least
// predicted time. Nothing in it knows a machine but by its model.
#ifndef ASHLAR_COST_CHOOSELEVELS_H
#define ASHLAR_COST_CHOOSELEVELS_H

#include "ashlar/Cost/Core.h"
#include <optional>

namespace ashlar {

struct LevelChoice {
  tile::StrategyAttr strategy;
  Prediction prediction;
};

class KnownLevels;

/// With `openSizes` the caller chooses some of the sizes, and all ends are
/// masked. What `isRefused` says, if it is given, is passed over. Nothing: no
/// unit takes the types, or no tile fits the memories. `known`, if it is given,
/// is asked first and told of what was chosen without refusals.
std::optional<LevelChoice>
chooseLevels(tile::ContractOp op, const MachineModel &machine,
             bool openSizes = false,
             llvm::function_ref<bool(tile::StrategyAttr)> isRefused = nullptr,
             KnownLevels *known = nullptr);

} // namespace ashlar

#endif // ASHLAR_COST_CHOOSELEVELS_H

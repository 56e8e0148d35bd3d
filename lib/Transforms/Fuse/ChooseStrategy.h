// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice for one contraction, for the passes that make contractions.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_CHOOSESTRATEGY_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_CHOOSESTRATEGY_H

#include "ashlar/Cost/Core.h"

namespace ashlar {

class StrategyTuning;

/// Sets the strategy of `op` and packs a constant b. `tuning` may be null; an
/// entry that does not fit is an error at `op`, and refuses the tuning.
/// With `openSizes`, nothing may depend on what divides a size. The box has
/// `columns` where that is not 0 and such a box fits. Panels that are made on
/// the way are held to `scratchBytes` where that is not 0.
Prediction chooseStrategy(tile::ContractOp op, const MachineModel &machine,
                          StrategyTuning *tuning, bool openSizes = false,
                          int64_t columns = 0, int64_t scratchBytes = 0);

/// What chooseStrategy would predict without a tuning; `op` stays as it is.
Prediction predictStrategy(tile::ContractOp op, const MachineModel &machine,
                           bool openSizes = false);

/// Splits the innermost reduced dim of `op` into groups of `group` terms, the
/// last dim then, if its operands can be read so.
bool groupTerms(tile::ContractOp op, int64_t group);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_CHOOSESTRATEGY_H

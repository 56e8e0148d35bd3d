// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_LEVELVARIANTS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_LEVELVARIANTS_H

#include "ashlar/Cost/ChooseLevels.h"
#include "ashlar/Cost/RefusedStrategies.h"

namespace ashlar {

/// The levels of `op`, or of a contraction that takes its place with kernels
/// of one pass beside it, if all of them together are predicted to be faster:
/// operands whose rows an engine can copy, sums of parts of the terms. `op` is
/// then that contraction. With `isFixed` it stays what it is. What `refused`
/// has is not taken, and what is taken is noted there.
std::optional<LevelChoice> chooseLevelsOfVariants(tile::ContractOp &op,
                                                  const MachineModel &machine,
                                                  bool openSizes, bool isFixed,
                                                  RefusedStrategies &refused);

/// The levels that would be chosen so for `op`, which nobody reads, on sizes
/// that are known; it goes, and what was there for it alone.
std::optional<LevelChoice> tryLevelsOfVariants(tile::ContractOp op,
                                               const MachineModel &machine,
                                               RefusedStrategies &refused);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_LEVELVARIANTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_EXCHANGESIDES_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_EXCHANGESIDES_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// Whether a contraction has so few rows that they leave most of a step of one
/// of the machine's units empty, and more columns than rows.
bool hasFewRows(tile::ContractOp op, const MachineModel &machine);

/// The same results with a and b exchanged: what were columns are the unit's
/// rows, which a step has many of, and the few rows its columns. The order of
/// terms stays, and with it each sum. It stands in `op`'s place, which is
/// erased. None, and `op` stays: results are not at one place each, or are
/// combined along a row.
std::optional<tile::ContractOp> exchangeSides(tile::ContractOp op);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_EXCHANGESIDES_H

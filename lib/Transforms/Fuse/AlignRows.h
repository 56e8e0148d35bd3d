// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_ALIGNROWS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_ALIGNROWS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// What copies of operands read and write together.
struct RowCopies {
  int64_t bytes = 0, kernels = 0;
};

/// Gives both operands rows that begin where an engine of the machine copies
/// by itself, in front of the op: a constant b as it is stored, others by a
/// copy of one pass, whose rows have undefined ends. None: rows suit already,
/// no engine asks, or an operand has no such form, and may have been changed.
std::optional<RowCopies> alignRows(tile::ContractOp op,
                                   const MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_ALIGNROWS_H

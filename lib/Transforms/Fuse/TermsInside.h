// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_TERMSINSIDE_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_TERMSINSIDE_H

#include "AlignRows.h"

namespace ashlar {

/// Puts the terms of both operands side by side where a unit of the machine
/// with fragments takes them in no other order, in front of the op: a constant
/// b as it is stored, others by a copy of one pass. None: they lie so already,
/// no unit asks, or an operand has no such form, and may have been changed.
std::optional<RowCopies> bringTermsInside(tile::ContractOp op,
                                          const MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_TERMSINSIDE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_PACKOPERAND_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_PACKOPERAND_H

#include "ashlar/Cost/ContractShape.h"

namespace ashlar {

/// Stores a constant b as panels of boxes of `columns`, and says whether:
/// column boxes outermost, then what the loops go through, the columns of a box
/// innermost. `plain` is b's map before terms were grouped.
bool packConstant(ContractShape &shape, int64_t columns, mlir::AffineMap plain);

/// Stores a constant b for a device that loads rows: batches, then terms, each
/// with all columns side by side, and zeros up to a multiple of `alignment`
/// columns. Whether b is such a constant, and was stored otherwise.
bool packRows(tile::ContractOp op, int64_t alignment = 1);

/// Copies b into panels of `panel` columns before it is read many times, and
/// says whether: one pass more over its bytes, instead of rows that lie pages
/// apart or panels that every worker makes for itself.
bool packLarge(ContractShape &shape, int64_t panel);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_PACKOPERAND_H

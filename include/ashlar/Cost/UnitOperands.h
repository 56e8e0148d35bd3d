// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a unit with fragments asks of where its operands and sums lie.
#ifndef ASHLAR_COST_UNITOPERANDS_H
#define ASHLAR_COST_UNITOPERANDS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// The machine's fragment as the dialect says it; of a unit that has one.
tile::FragmentAttr fragmentOf(mlir::MLIRContext *context,
                              const MultiplyUnit &unit);

/// Rows of so many elements, of `bytes` each, whose readers do not meet in
/// banks of `memory`. Null: row by row, as they are.
tile::LayoutAttr swizzledRows(mlir::MLIRContext *context, const Memory &memory,
                              int64_t bytes, int64_t rowElements);

/// Whether rows of an operand begin where an engine can copy them, and its
/// last dim is one of the contraction's.
bool takesRows(const CopyEngine &engine, mlir::ShapedType type,
               mlir::AffineMap map);

} // namespace ashlar

#endif // ASHLAR_COST_UNITOPERANDS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_SIMT_STEPOPERAND_H
#define ASHLAR_TRANSFORMS_SIMT_STEPOPERAND_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar::simt {

/// An operand of a step that a unit reads from a slot.
struct StepOperand {
  mlir::TypedValue<tile::SlotType> slot;
  mlir::AffineMap map; ///< from all dims of the step, linear
  mlir::ValueRange offsets;

  /// Which element of the slot is that at a point of all dims, or so many steps
  /// behind it along each.
  mlir::Value placeOf(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange point,
                      llvm::ArrayRef<int64_t> steps = {}) const;
};

/// A point of all dims of a step, and constants that come on top of it.
struct StepPoint {
  llvm::SmallVector<mlir::Value> point;
  llvm::SmallVector<int64_t> steps;
};
/// Where a lane reads a, or b, of a step: at row, or column, `line` behind the
/// `first` one of the group's part, and at `depth` behind the first `terms`.
StepPoint pointOf(mlir::ImplicitLocOpBuilder &b, tile::ThreadStepOp op,
                  bool isLeft, int64_t first, mlir::Value line,
                  llvm::ArrayRef<int64_t> terms, mlir::Value depth);

} // namespace ashlar::simt

#endif // ASHLAR_TRANSFORMS_SIMT_STEPOPERAND_H

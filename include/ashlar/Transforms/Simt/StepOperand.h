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

} // namespace ashlar::simt

#endif // ASHLAR_TRANSFORMS_SIMT_STEPOPERAND_H

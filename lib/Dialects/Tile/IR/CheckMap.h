// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops of the dialect ask of their operands.
#ifndef ASHLAR_LIB_DIALECTS_TILE_IR_CHECKMAP_H
#define ASHLAR_LIB_DIALECTS_TILE_IR_CHECKMAP_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/NoteAt.h"

namespace ashlar::tile {

using ashlar::noteAt;

inline mlir::Type elementOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getElementType();
}
inline int64_t rankOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getRank();
}

/// A map over `dims` dims with a result per dim of `operand`.
llvm::LogicalResult checkMap(mlir::Operation *op, llvm::StringRef name,
                             mlir::AffineMap map, int64_t dims,
                             mlir::Value operand);

/// One for each dim of a slot, or none.
llvm::LogicalResult checkOffsets(mlir::Operation *op, mlir::Value operand,
                                 mlir::ValueRange offsets);

/// Says what is wrong where a body does not take an accumulator and one element
/// per operand of the epilogue, or yields no `target`.
llvm::LogicalResult checkBody(mlir::Operation *op, mlir::Block &body,
                              mlir::Type accumulator, mlir::ValueRange epilogue,
                              mlir::Type target);

/// Says what is wrong where a body does not take one element of each of these,
/// or yields no `result`.
llvm::LogicalResult checkElements(mlir::Operation *op, mlir::Block &body,
                                  llvm::ArrayRef<mlir::Type> expected,
                                  mlir::Type result);

} // namespace ashlar::tile

#endif // ASHLAR_LIB_DIALECTS_TILE_IR_CHECKMAP_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of the operands that a part of an op's dims reads.
#ifndef ASHLAR_DIALECTS_TILE_IR_CUTOPERAND_H
#define ASHLAR_DIALECTS_TILE_IR_CUTOPERAND_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace ashlar::tile {

/// What is taken of a dim: `size` from `offset` on; a size of 0: all of it.
struct Cut {
  mlir::OpFoldResult offset = {};
  int64_t size = 0;
};

/// Whether a map can be cut into such parts, one behind the other: each result
/// that depends on a dim that is cut is a sum of multiples of dims that all are
/// (some maybe in one piece), or a quotient or rest of one by a divisor of the
/// part's size. The last part may be a smaller one.
bool isCuttable(mlir::AffineMap map, llvm::ArrayRef<Cut> cuts);

/// Where in `operand`, which is read at `map`, the part lies that cuts of the
/// map's dims leave. Fails where the map cannot be cut. `lengths`, by dim, may
/// be left out, or null for some: where one is a value, a part is as long as it
/// says, at most as its cut, and the dim stands alone where it is read.
llvm::LogicalResult findPart(mlir::OpBuilder &b, mlir::Value operand,
                             mlir::AffineMap map, llvm::ArrayRef<Cut> cuts,
                             llvm::SmallVectorImpl<mlir::OpFoldResult> &offsets,
                             llvm::SmallVectorImpl<mlir::OpFoldResult> &sizes,
                             llvm::ArrayRef<mlir::OpFoldResult> lengths = {});

/// That part of a tensor. Fails where the map cannot be cut.
llvm::FailureOr<mlir::Value>
cutOperand(mlir::OpBuilder &b, mlir::Value operand, mlir::AffineMap map,
           llvm::ArrayRef<Cut> cuts,
           llvm::ArrayRef<mlir::OpFoldResult> lengths = {});

} // namespace ashlar::tile

#endif // ASHLAR_DIALECTS_TILE_IR_CUTOPERAND_H

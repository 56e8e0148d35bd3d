// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of an operand's memory that a box of an op's points touches.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_BOXVIEW_H
#define ASHLAR_LIB_TRANSFORMS_TILE_BOXVIEW_H

#include "ashlar/Analysis/BoxReach.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

/// That part, and the map from the box's dims into it.
struct BoxView {
  mlir::Value memory;
  mlir::AffineMap map;
};

/// `begin` and the steps of a box's dims, where one of each `step` is there:
/// dims of other steps stand still.
mlir::AffineExpr lineOf(mlir::AffineExpr expr, llvm::ArrayRef<unsigned> dims,
                        int64_t begin, int64_t step = 1);

/// Of so many points from `at` on, those in front of `end`.
mlir::OpFoldResult countBefore(mlir::OpBuilder &b, mlir::Location loc,
                               int64_t box, mlir::OpFoldResult at,
                               mlir::OpFoldResult end);

/// Of a box that begins at `at`, a place for each dim of `map`, and is as long
/// as `extents` along `dims`, standing still along all others. `countIn` says
/// how many of the points of a dim exist, or null where all do; `lengthOf`, if
/// given, how long the part is along a result of the map, from its offset and
/// the length without ends on, or null where `countIn` says that. A box that
/// `mayBeEmpty` begins where the dim ends, which steps of an operand can put
/// beyond its memory.
BoxView
viewOfBox(mlir::ImplicitLocOpBuilder &b, mlir::Value memory,
          mlir::AffineMap map, llvm::ArrayRef<mlir::OpFoldResult> at,
          llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<int64_t> extents,
          llvm::function_ref<mlir::OpFoldResult(unsigned dim)> countIn,
          llvm::function_ref<mlir::OpFoldResult(
              unsigned result, mlir::OpFoldResult offset, int64_t length)>
              lengthOf = nullptr,
          bool mayBeEmpty = false);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_BOXVIEW_H

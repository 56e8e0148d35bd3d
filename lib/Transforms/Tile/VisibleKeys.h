// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_VISIBLEKEYS_H
#define ASHLAR_LIB_TRANSFORMS_TILE_VISIBLEKEYS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// Keys in front of the first of `from` and from the first of `to` on have no
/// weight: their scores are hidden by their place alone. Over the dims of the
/// scores in front of the keys, each as large as the terms say; both may be
/// empty, where nothing is known.
struct VisibleKeys {
  /// One of the terms where it is largest, or smallest, of `count` rows that
  /// begin at dim `row`.
  mlir::AffineExpr ofRows(mlir::AffineExpr term, unsigned row, int64_t count,
                          bool largest) const;

  unsigned rank = 0; ///< of scores
  llvm::SmallVector<mlir::AffineExpr> from, to;
  llvm::SmallVector<mlir::Value> symbols; ///< of both: parameters of the kernel
  bool isComplete = false; ///< all other scores stay what they are
};

/// What the op's region `hide` says of places, as of causal attention and of
/// windows of keys.
VisibleKeys findVisibleKeys(tile::AttentionOp op);

/// Of what a copy of such a region makes of a score, what that is where it is
/// not hidden; the choice between both goes.
mlir::Value takeVisible(mlir::Value score);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_VISIBLEKEYS_H

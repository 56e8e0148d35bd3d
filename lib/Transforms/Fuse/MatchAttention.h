// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_MATCHATTENTION_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_MATCHATTENTION_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ashlar {

/// A softmax along the last dim of scores between two contractions, none of
/// whose steps anybody else reads.
struct AttentionMatch {
  tile::ContractOp scores;
  mlir::linalg::GenericOp hide; ///< null: scores go as they are
  mlir::linalg::GenericOp maximum, powers, sum, weights;
  tile::ContractOp values;
  mlir::Type type;        ///< of exponentials, sums, and scores once widened
  bool zeroRows = false;  ///< where all scores are negative infinities
  mlir::Value normalized; ///< in the body of `weights`

  /// All of it, in order.
  llvm::SmallVector<mlir::Operation *> ops() const;
};

/// The one that ends in `values`.
std::optional<AttentionMatch> matchAttention(tile::ContractOp values);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_MATCHATTENTION_H

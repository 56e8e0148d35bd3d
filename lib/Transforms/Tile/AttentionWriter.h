// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of a `tile.attention` as ops.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_ATTENTIONWRITER_H
#define ASHLAR_LIB_TRANSFORMS_TILE_ATTENTIONWRITER_H

#include "VisibleKeys.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ashlar {

/// Writes the steps of an attention without a grid in its place.
class AttentionWriter {
public:
  explicit AttentionWriter(tile::AttentionOp op);

  /// With the scores of all keys at once.
  void writeRows();
  /// With those of as many as its loop says. Of a part of fewer rows, and of
  /// the last keys, what is made on the way is as large as that of others.
  /// Where callers choose sizes, tiles of which no row sees a key are left out:
  /// `at` is where the part's rows lie, by the scores' dims.
  void writeLoop(const VisibleKeys &visible,
                 llvm::ArrayRef<mlir::OpFoldResult> at);

private:
  using Body =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

  /// Where a body ends.
  static mlir::Location locOf(mlir::Region &region);

  // Ops on scores, at `sizes`, and on rows of them.
  void writeConstants();
  mlir::Value number(const llvm::APFloat &value);
  mlir::Value emptyScores(mlir::Type element);
  mlir::Value emptyRow();
  mlir::Value filled(mlir::Value empty, mlir::Value with);
  mlir::Value generic(mlir::ValueRange inputs, mlir::Value init,
                      llvm::ArrayRef<mlir::AffineMap> maps, bool reduces,
                      Body body);
  mlir::Value combineRows(mlir::Value x, mlir::Value y, Body body);
  /// Each score with its row's number.
  mlir::Value combine(mlir::Value scores, mlir::Value ofRow, mlir::Type result,
                      Body body);
  /// Of each row, with what `start` has.
  mlir::Value maximum(mlir::Value scores, mlir::Value start);
  mlir::Value sum(mlir::Value powers, mlir::Value start);
  /// Exponentials of distances; those to negative infinity are to zero.
  mlir::Value powers(mlir::Value scores, mlir::Value largest, bool mayBeLowest);

  // On scalars.
  mlir::Value power(mlir::OpBuilder &b, mlir::Value score, mlir::Value largest,
                    bool mayBeLowest);
  mlir::Value divided(mlir::OpBuilder &b, mlir::Value value, mlir::Value total);
  /// What the body of a region makes of `arguments`, where scores are cut.
  mlir::Value inlined(mlir::OpBuilder &b, mlir::Region &region,
                      mlir::ValueRange arguments,
                      llvm::ArrayRef<tile::Cut> cuts = {});

  /// The scores that cuts of their dims leave, hidden. Of keys there are
  /// `existing`, which is less than the cut at the end.
  mlir::Value writeScores(llvm::ArrayRef<tile::Cut> cuts,
                          mlir::OpFoldResult existing = {});
  /// A part of what is read at each score beside it.
  struct Beside {
    mlir::Value part;
    mlir::AffineMap map;
  };
  /// What the op's body makes of scores, or, `areSums`, that which scores them
  /// of sums first. Keys from `existing` on have no weight.
  mlir::Value hide(mlir::Value scores, llvm::ArrayRef<Beside> beside,
                   bool areSums, llvm::ArrayRef<tile::Cut> cuts,
                   mlir::Value existing);
  void yieldSum(tile::ContractOp product);
  /// The element of a part of an operand at a score, or, where that does not
  /// exist, at the last that does.
  mlir::Value readAt(mlir::OpBuilder &b, mlir::Value part, mlir::AffineMap map);
  /// Whether an operand may end in front of what a loop makes of it.
  bool mayEnd(mlir::Value part);
  tile::ContractOp contract(mlir::Location at, mlir::ValueRange factors,
                            mlir::ValueRange epilogue, mlir::Value init,
                            llvm::ArrayRef<int64_t> parallel,
                            llvm::ArrayRef<int64_t> reduced,
                            llvm::ArrayRef<mlir::AffineMap> maps,
                            tile::StrategyAttr strategy);

  /// A strategy for one worker's part of what it was chosen for.
  static tile::StrategyAttr clip(tile::StrategyAttr strategy,
                                 llvm::ArrayRef<int64_t> parallel,
                                 llvm::ArrayRef<int64_t> reduced);

  // The loop over keys, in AttentionLoop.cpp.
  /// What a loop over keys carries: weighted sums of values, and of each row
  /// the largest score and the sum of exponentials.
  struct State {
    mlir::Value sums, largest, total;
  };
  /// With `count` keys, of which there may be less.
  State step(const State &before, unsigned keyDim, mlir::OpFoldResult from,
             int64_t count, mlir::OpFoldResult existing = {});
  /// From `from` to `to`, in tiles of `count`, beyond the `all` of which there
  /// are no keys.
  State loop(const State &before, unsigned keyDim, mlir::OpFoldResult from,
             mlir::OpFoldResult to, int64_t count, mlir::OpFoldResult all = {});
  /// Of tiles of keys where the number of keys, or of rows, is a value.
  State loopToValue(const State &before, unsigned keyDim,
                    const VisibleKeys &visible,
                    llvm::ArrayRef<mlir::OpFoldResult> at);
  mlir::Value finish(const State &state);
  /// Where the number of a result's row lies, over the result's dims.
  mlir::AffineMap rowOfResult();

  tile::AttentionOp op;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Type type; ///< of scores
  unsigned rank;   ///< of them
  mlir::AffineMap place, row;
  llvm::ArrayRef<int64_t> parameters; ///< that are the dims of both products
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  bool isOpen = false;   ///< any size of the part is a value
  bool isFilled = false; ///< to whole tiles, which threads share, at the ends
  mlir::Value lowest, zero, one;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_ATTENTIONWRITER_H

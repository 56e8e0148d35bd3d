// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which boxes of results of a Winograd convolution belong to which worker, and
// loops over them. Sizes may be values that a caller chooses.
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_WINOGRADBOXES_H
#define ASHLAR_LIB_TRANSFORMS_LANES_WINOGRADBOXES_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

/// One box of results.
struct WinogradBox {
  mlir::Value row, column;    ///< of boxes, within the worker's share
  mlir::Value number, across; ///< the same among all boxes of the image
  int64_t high, wide;         ///< how many results of it exist
  /// The same where only the program that runs knows; `high` and `wide` are
  /// those of a whole box then. Null otherwise.
  mlir::Value highHere, wideHere;
};

class WinogradBoxes {
public:
  WinogradBoxes(tile::WinogradOp op, mlir::ImplicitLocOpBuilder &b);

  /// A loop over the shares of workers; the builder is inside of it then.
  void emitWorkers();
  /// Loops over the boxes of this worker around `body`.
  void forEach(llvm::function_ref<void(const WinogradBox &)> body);
  /// Where a box of the share stands in it.
  mlir::Value numberOf(const WinogradBox &box);

  mlir::Value image() const { return indices[0]; }
  mlir::ValueRange workers() const { return indices; }
  llvm::ArrayRef<mlir::OpFoldResult> extents() const { return sizes; }
  /// Boxes of the largest share, and of this one: a number where all are alike.
  int64_t most() const { return perWorker * perRow; }
  mlir::OpFoldResult count() const { return boxesHere; }

private:
  void forEachInShares(llvm::function_ref<void(const WinogradBox &)> body);
  void forEachAlike(llvm::function_ref<void(const WinogradBox &)> body);
  mlir::Value index(int64_t value);
  mlir::Value value(mlir::OpFoldResult size);
  mlir::OpFoldResult apply(mlir::AffineExpr expr,
                           llvm::ArrayRef<mlir::OpFoldResult> symbols);
  mlir::Value least(mlir::Value x, mlir::Value y);
  void loop(mlir::Value from, mlir::Value to,
            llvm::function_ref<void(mlir::Value)> body);

  mlir::ImplicitLocOpBuilder &b;
  int64_t size;                                ///< results of a box along a dim
  llvm::SmallVector<mlir::OpFoldResult> sizes; ///< of all dims
  mlir::OpFoldResult rows, columns;            ///< boxes of an image
  int64_t perWorker, perRow;                   ///< boxes of a share at most
  bool alike; ///< all shares have as many, known rows of boxes
  mlir::SmallVector<mlir::Value> indices; ///< image, first row and column
  mlir::Value rowsHere, columnsHere;      ///< boxes of this share
  mlir::OpFoldResult boxesHere;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_WINOGRADBOXES_H

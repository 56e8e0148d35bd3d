// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_DECODEWRITER_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_DECODEWRITER_H

#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar::simt {

/// Writes what one thread does to compute neighbours of a `tile.decode`: loads
/// of what they are made of, all of them at once where they lie side by side,
/// and the body for each of them.
class DecodeWriter {
public:
  DecodeWriter(tile::DecodeOp op, mlir::ImplicitLocOpBuilder &b)
      : op(op), b(b) {}

  /// So many elements along the last dim from `at` on, places of `source`, a
  /// view of the result: that is where a multiple of `count` begins.
  llvm::SmallVector<mlir::Value> write(mlir::Value source, mlir::ValueRange at,
                                       int64_t count);
  /// The place of the first input of what is at `at`, such as above.
  llvm::SmallVector<mlir::Value> placesInInput(mlir::Value source,
                                               mlir::ValueRange at);
  /// Whether all inputs have the elements of what is at `at`; null: they do.
  mlir::Value exists(mlir::Value source, mlir::ValueRange at);

private:
  llvm::SmallVector<mlir::Value> placesInResult(mlir::Value source,
                                                mlir::ValueRange at);
  /// The input's element for each of `count`; one alone where all read that.
  llvm::SmallVector<mlir::Value> load(unsigned input, int64_t count);
  bool areSideBySide(unsigned input, int64_t count);
  mlir::Value applied(mlir::AffineExpr expr, int64_t step);

  tile::DecodeOp op;
  mlir::ImplicitLocOpBuilder &b;
  llvm::SmallVector<mlir::Value> first; ///< where the first element is
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_DECODEWRITER_H

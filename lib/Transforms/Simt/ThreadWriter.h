// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_THREADWRITER_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_THREADWRITER_H

#include "Share.h"

namespace ashlar::simt {

/// What one thread does at points of an accumulator: loads, products, bodies.
class ThreadWriter {
public:
  /// At points of an accumulator of that shape; without one, of any.
  ThreadWriter(mlir::Operation *op, mlir::OpBuilder &builder,
               llvm::ArrayRef<int64_t> shape = {})
      : b(op->getLoc(), builder), shape(shape) {}

  llvm::SmallVector<mlir::Value> at(mlir::AffineMap map,
                                    mlir::ValueRange point);
  /// With `padded`, zero where the place lies behind the memory's end.
  mlir::Value load(mlir::Value memory, mlir::AffineMap map,
                   mlir::ValueRange point, bool padded = false);
  /// The same at all points of a share, `together` neighbours along its last
  /// dim by one access, from multiples of that on.
  llvm::SmallVector<mlir::Value> loadPieces(mlir::Value memory,
                                            mlir::AffineMap map,
                                            const Share &share, bool padded,
                                            int64_t together);
  /// The memory of which `memory` is a part, with `place` there: upstream takes
  /// accesses out of views as well, but forgets how they are aligned.
  mlir::Value wholeOf(mlir::Value memory,
                      llvm::SmallVectorImpl<mlir::Value> &place);
  /// Whether the place of a point lies in front of the memory's end; null: all
  /// do.
  mlir::Value isInside(mlir::Value memory, mlir::AffineMap map,
                       mlir::ValueRange point);
  /// Both conditions, either of which may be null: it holds.
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value extend(mlir::Value value, mlir::Type wide, bool isUnsigned);
  /// One rounding, of floats.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  /// What a body yields for arguments at a point.
  mlir::Value apply(mlir::Block &body, mlir::ValueRange arguments,
                    mlir::ValueRange point = {});

  /// Memory in which each thread finds what all have of an accumulator, until
  /// closeExchange, behind which it is written again.
  mlir::Value exchange(mlir::ValueRange values, const Share &share,
                       tile::AccType type);
  void closeExchange();

  mlir::ImplicitLocOpBuilder b;

private:
  bool isAlwaysInside(mlir::AffineExpr place, int64_t end) const;

  llvm::ArrayRef<int64_t> shape;
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_THREADWRITER_H

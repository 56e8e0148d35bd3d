// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_ROWGROUP_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_ROWGROUP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ashlar {

/// On a reduction whose results others combine: a kernel of its own.
constexpr llvm::StringLiteral partsAttrName = "ashlar.parts";

/// Ops that one kernel may compute row by row, such as those of a softmax, or a
/// reduction alone.
struct RowGroup {
  /// In their order; the last is read by others.
  llvm::SmallVector<mlir::linalg::GenericOp> ops;
  int64_t rowDims = 0; ///< leading loops of all of them; 0: of one op

  RowGroup() = default;
  RowGroup(llvm::ArrayRef<mlir::linalg::GenericOp> ops, int64_t rowDims);
  /// All that `root` and nobody else reads, as far as it suits.
  static RowGroup behind(mlir::linalg::GenericOp root);

  mlir::linalg::GenericOp root() const { return ops.back(); }
  bool has(mlir::Operation *op) const { return llvm::is_contained(ops, op); }
  llvm::SmallVector<mlir::linalg::GenericOp> reductions() const;
  int64_t rows() const;
  /// Of one row: of an op's loops, and of its result.
  int64_t pointsOfRow(mlir::linalg::GenericOp op) const;
  int64_t resultsOfRow(mlir::linalg::GenericOp op) const;
  /// Whether more than one value of a row passes from one op to the next.
  bool passesRow(mlir::linalg::GenericOp op) const {
    return op != root() && resultsOfRow(op) > 1;
  }
  /// What is read from outside, each tensor once, and what is written.
  int64_t bytesRead() const;
  int64_t bytesWritten() const;
  /// Of rows that pass from op to op.
  int64_t bytesPassed() const;
};

/// Lets each reader of what `group` passes on by rows compute that by itself.
/// The last op may be another one then. False: nothing is changed, some reader
/// cannot.
bool recomputeRows(RowGroup &group);

/// Gives each reader of `op` an op of its own.
void copyForReaders(mlir::linalg::GenericOp op);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_ROWGROUP_H

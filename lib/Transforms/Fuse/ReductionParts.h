// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_REDUCTIONPARTS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_REDUCTIONPARTS_H

#include "ashlar/Analysis/Combinations.h"

namespace ashlar {

/// How the terms along one reduced dim are shared out: so many parts of so many
/// terms each, and a few behind the last.
struct ReductionParts {
  unsigned dim = 0;
  int64_t count = 1, terms = 0, rest = 0;
};

/// Whether `op` is a reduction of tensors of known sizes to one result, by one
/// op that takes terms in any order, which may be shared out.
bool hasParts(mlir::linalg::GenericOp op);

/// About `wanted` parts of reduced dim `dim`, each as good to read as the whole
/// for threads that have `tile` points at a time; what is left over is read
/// by so many `readers`. Nullopt: there are no two parts.
std::optional<ReductionParts> chooseParts(mlir::linalg::GenericOp op,
                                          unsigned dim, int64_t wanted,
                                          int64_t tile, int64_t readers);

/// `op`, with those reduced dims one that lie behind each other in all that it
/// reads, as the rows and columns of an image do; null: there are none.
mlir::linalg::GenericOp joinDims(mlir::linalg::GenericOp op);

/// What the parts of `op` come to, all of one op; and, for as many readers as
/// ask, ops that combine these in their order with what is left. Written in
/// front of `op`, which stays.
class PartsWriter {
public:
  PartsWriter(mlir::linalg::GenericOp op, const ReductionParts &parts);
  /// The same value as the result of `op`, by ops of its own.
  mlir::Value combine();

private:
  mlir::Value writeRest();
  mlir::Value neutralFill(llvm::ArrayRef<int64_t> shape);
  mlir::AffineMap moved(mlir::AffineMap map, mlir::AffineExpr place,
                        bool hasPart) const;
  mlir::linalg::GenericOp write(mlir::Value init, mlir::AffineExpr place,
                                bool hasPart, int64_t terms,
                                mlir::AffineMap result);

  mlir::linalg::GenericOp op;
  ReductionParts parts;
  Combination combination;
  mlir::OpBuilder b;
  unsigned place; ///< of the part among the dims of what parts come to
  mlir::Value partial;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_REDUCTIONPARTS_H

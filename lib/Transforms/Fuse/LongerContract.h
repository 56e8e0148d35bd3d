// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction of a further device with more behind it: what reads its result
// becomes part of its body.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_LONGERCONTRACT_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_LONGERCONTRACT_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include <optional>

namespace ashlar {

/// The contraction that an op is, or that is all a dispatch of a further device
/// does, if more can follow it in its body; else null.
tile::ContractOp contractOf(mlir::Operation *op);

/// A contraction in the making. All ops are dispatches, or all are still
/// outside of any: a tile.contract and linalg.generic ops.
class LongerContract {
public:
  /// `from` has a contraction, whose result those behind it read as `known`.
  /// What is made stands before `last`.
  LongerContract(mlir::Operation *from, mlir::Value known,
                 mlir::Operation *last);

  /// What a kernel or a reshape does, in the order of the text, which reads the
  /// contraction's result or what was appended before. False: it cannot be part
  /// of a body.
  bool append(mlir::Operation *op);
  /// What yields what was appended last and, if asked for, what was there
  /// before it was rounded: a dispatch or a contraction, as `from` is. Null: it
  /// is another shape.
  mlir::Operation *create(bool withUnrounded);

private:
  /// A tensor between ops, as a scalar of the body.
  struct Inner {
    mlir::Value scalar;
    /// Of the contraction, by the tensor's dims; -1: one of size 1 that is none
    /// of them.
    llvm::SmallVector<int64_t> dims;
  };

  bool append(exec::DispatchOp dispatch);
  bool append(mlir::linalg::GenericOp op);
  bool bindLoops(mlir::linalg::GenericOp op,
                 llvm::SmallVectorImpl<int64_t> &loops);
  std::optional<mlir::Value> scalarOf(mlir::linalg::GenericOp op,
                                      mlir::OpOperand *operand,
                                      llvm::ArrayRef<int64_t> loops);
  void copyIn(mlir::Value value, mlir::IRMapping &scalars);
  mlir::AffineMap mapOver(mlir::AffineMap map, llvm::ArrayRef<int64_t> loops);
  /// `more`: what was added, where the contraction is.
  tile::ContractOp createContract(llvm::ArrayRef<mlir::Type> types,
                                  const mlir::IRMapping &values,
                                  mlir::ValueRange more);

  tile::ContractOp contract;
  mlir::Operation *from;
  mlir::Operation *rows = nullptr; ///< what was appended last
  mlir::Operation *last;
  mlir::OpBuilder b;
  mlir::Region body;
  mlir::IRMapping mapping;
  Inner sum;
  /// By tensors in and between dispatches.
  llvm::DenseMap<mlir::Value, Inner> inner;
  /// Tensors from elsewhere, for the epilogue.
  llvm::SmallVector<mlir::Value> added;
  llvm::SmallVector<mlir::Attribute> maps;
  llvm::SmallVector<mlir::Location> location;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_LONGERCONTRACT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops read, in another type. Bodies go on computing in f32: what they read
// is extended, what they store is rounded. These casts carry `contract`, which
// says that a value need not be rounded where it never leaves the registers:
// when fusion brings a rounding and its extension together, they fold away.
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_LOWOPERANDS_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_LOWOPERANDS_H

#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ashlar {

mlir::Type typeOf(NumberType type, mlir::MLIRContext *context);
mlir::RankedTensorType withElements(mlir::Value tensor, mlir::Type element);
mlir::Value emptyLike(mlir::OpBuilder &b, mlir::Value value,
                      mlir::Type element);

/// A scalar of f32 rounded, or extended to it.
mlir::Value round(mlir::OpBuilder &b, mlir::Location location,
                  mlir::Value value, mlir::Type to);
mlir::Value extend(mlir::OpBuilder &b, mlir::Location location,
                   mlir::Value value);
llvm::APFloat rounded(llvm::APFloat value, mlir::Type to);

/// A tensor of f32 in another type.
mlir::Value convert(mlir::OpBuilder &b, mlir::Value value, mlir::Type element);

class LowOperands {
public:
  explicit LowOperands(mlir::MLIRContext *context) : b(context) {}

  /// Lets the op read f32 as `element`: constants are rounded while they are
  /// written, other values behind whoever computes them, once for all readers.
  void lower(mlir::OpOperand &operand, mlir::Type element);
  /// All inputs of an op.
  void lowerInputs(mlir::linalg::GenericOp op, mlir::Type element);
  /// Lets a body work with what its operands have become.
  static void extendReads(mlir::linalg::GenericOp op);

  unsigned numConversions() const { return conversions.size(); }

private:
  mlir::OpBuilder b;
  /// Never iterated.
  llvm::DenseMap<std::pair<const void *, mlir::Type>, mlir::Value> conversions;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_LOWOPERANDS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that a model computes while it runs: numbers that are known now, or
// tensors with bounds that are. Arithmetic on them builds ops only where it
// must.
#ifndef ASHLAR_LIB_IMPORT_ONNX_COMPUTEDSIZES_H
#define ASHLAR_LIB_IMPORT_ONNX_COMPUTEDSIZES_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

struct Number {
  int64_t low, high;  ///< it is between these
  mlir::Value tensor; ///< of one i64, without dimensions; null when known

  bool isKnown() const { return !tensor; }
  bool is(int64_t value) const { return isKnown() && low == value; }
  /// The same one whenever the model runs.
  bool operator==(const Number &other) const {
    return tensor == other.tensor && (tensor || low == other.low);
  }
  bool operator!=(const Number &other) const { return !(*this == other); }
};

Number knownNumber(int64_t value);
/// What a tensor of one i64 holds.
Number numberOf(NodeImporter &node, mlir::Value tensor);
/// The integers of operand i, a scalar or a list.
mlir::FailureOr<llvm::SmallVector<Number>>
numbersOf(NodeImporter &node, unsigned i, llvm::StringRef role);
/// Size `axis` of operand i.
Number sizeOf(NodeImporter &node, unsigned i, int64_t axis);

Number add(NodeImporter &node, const Number &x, const Number &y);
Number sub(NodeImporter &node, const Number &x, const Number &y);
Number mul(NodeImporter &node, const Number &x, const Number &y);
/// Rounded down; y is positive, x is not negative.
Number div(NodeImporter &node, const Number &x, const Number &y);
Number max(NodeImporter &node, const Number &x, const Number &y);
Number min(NodeImporter &node, const Number &x, const Number &y);
/// x where `y` is one, otherwise y.
Number unlessOne(NodeImporter &node, const Number &x, const Number &y);

/// As i64 and, within a body, as an index.
mlir::Value asTensor(NodeImporter &node, const Number &number);
mlir::Value asIndex(mlir::OpBuilder &b, mlir::Location loc,
                    const Number &number);
/// An index brought into an axis of as many elements, or of one.
mlir::Value clampTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index,
                    const Number &size);

/// A shape as tensors have it that are as large as they can get.
struct SizedShape {
  llvm::SmallVector<int64_t> bounds;
  llvm::SmallVector<mlir::Value, 0> sizes; ///< null where it is known
};
/// Refuses sizes that nothing bounds; they come from operand `from`, whose role
/// is said. Negative ones are none.
mlir::FailureOr<SizedShape> boundShape(NodeImporter &node,
                                       llvm::MutableArrayRef<Number> shape,
                                       unsigned from, llvm::StringRef role);

/// The shape in operand i, computed or not.
mlir::FailureOr<SizedShape> readShape(NodeImporter &node, unsigned i,
                                      llvm::StringRef role);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_COMPUTEDSIZES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operators check before they build anything: models are hostile input.
// Each check says what was expected and found, and returns failure().
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_OPERANDCHECKS_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_OPERANDCHECKS_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

/// The first `required` operands are present and there are `most` at most.
mlir::LogicalResult expectOperands(NodeImporter &node, unsigned required,
                                   unsigned most);
/// Operand i has the type of operand 0.
mlir::LogicalResult expectSameType(NodeImporter &node, unsigned i);
/// Operand i has one of int32 and int64.
mlir::LogicalResult expectIndexType(NodeImporter &node, unsigned i);
mlir::LogicalResult expectFloat(NodeImporter &node, unsigned i);
mlir::LogicalResult expectRank(NodeImporter &node, unsigned i, int64_t rank);
mlir::LogicalResult expectMinimumRank(NodeImporter &node, unsigned i,
                                      int64_t rank);
mlir::LogicalResult expectShapeOf(NodeImporter &node, unsigned i,
                                llvm::ArrayRef<int64_t> shape);
/// No size is negative and a tensor of `shape` is not absurdly large, whatever
/// its element type.
mlir::LogicalResult expectSize(NodeImporter &node,
                               llvm::ArrayRef<int64_t> shape);
/// The value is one of `allowed`; `what` names the attribute.
mlir::LogicalResult expectOneOf(NodeImporter &node, llvm::StringRef what,
                                llvm::StringRef value,
                                llvm::ArrayRef<llvm::StringRef> allowed);
/// "1x3x224" or "scalar".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_OPERANDCHECKS_H

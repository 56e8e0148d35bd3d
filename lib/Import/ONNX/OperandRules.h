// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operators expect of their operands beyond their definition's types and
// counts, before they build anything: models are hostile input. Every function
// that fails has said what was expected and found.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERANDRULES_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERANDRULES_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

/// "2x3", "scalar" for rank 0.
std::string spellShape(llvm::ArrayRef<int64_t> shape);

/// The first `required` operands are present and there are `most` at most.
mlir::LogicalResult expectOperands(NodeImporter &node, unsigned required,
                                   unsigned most);
/// Operand i has the type of operand 0.
mlir::LogicalResult expectSameType(NodeImporter &node, unsigned i);
/// Operand i has one of int32 and int64.
mlir::LogicalResult expectIndexType(NodeImporter &node, unsigned i);
mlir::LogicalResult expectFloat(NodeImporter &node, unsigned i);

/// The value is one of `allowed`; `what` names the attribute.
mlir::LogicalResult expectOneOf(NodeImporter &node, llvm::StringRef what,
                                llvm::StringRef value,
                                llvm::ArrayRef<llvm::StringRef> allowed);

/// No size is negative, and memory can address a tensor of this shape; without
/// an element type, one of the widest.
mlir::LogicalResult expectSize(NodeImporter &node,
                               llvm::ArrayRef<int64_t> shape,
                               mlir::Type element = {});

/// Operands must broadcast together, as NumPy does, to a shape of a size that
/// memory can address; that shape.
mlir::FailureOr<llvm::SmallVector<int64_t>>
expectBroadcast(NodeImporter &node, llvm::ArrayRef<unsigned> operands);

/// Operand i must broadcast to `shape` without changing it.
mlir::LogicalResult expectBroadcastTo(NodeImporter &node, unsigned i,
                                      llvm::ArrayRef<int64_t> shape);

mlir::LogicalResult expectShape(NodeImporter &node, unsigned i,
                                llvm::ArrayRef<int64_t> shape);

mlir::LogicalResult expectRank(NodeImporter &node, unsigned i, int64_t rank);
mlir::LogicalResult expectRankAtLeast(NodeImporter &node, unsigned i,
                                      int64_t rank);

/// Operand i must hold exactly one element; it is absent or does.
mlir::LogicalResult expectOneElement(NodeImporter &node, unsigned i);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERANDRULES_H

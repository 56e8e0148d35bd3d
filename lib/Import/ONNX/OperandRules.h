// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operators expect of their operands' shapes beyond their definition's
// types and counts. Every function that fails has said why.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERANDRULES_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERANDRULES_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

/// "2x3", "scalar" for rank 0.
std::string spellShape(llvm::ArrayRef<int64_t> shape);

/// The shape must be of a size that memory can address.
mlir::LogicalResult expectSize(NodeImporter &node,
                               llvm::ArrayRef<int64_t> shape,
                               mlir::Type element);

/// Operands must broadcast together, as NumPy does, to a shape of a size that
/// memory can address; that shape.
mlir::FailureOr<llvm::SmallVector<int64_t>>
expectBroadcast(NodeImporter &node, llvm::ArrayRef<unsigned> operands);

/// Operand i must broadcast to `shape` without changing it.
mlir::LogicalResult expectBroadcastTo(NodeImporter &node, unsigned i,
                                      llvm::ArrayRef<int64_t> shape);

mlir::LogicalResult expectShape(NodeImporter &node, unsigned i,
                                llvm::ArrayRef<int64_t> shape);

mlir::LogicalResult expectRankAtLeast(NodeImporter &node, unsigned i,
                                      int64_t rank);

/// Operand i must hold exactly one element; it is absent or does.
mlir::LogicalResult expectOneElement(NodeImporter &node, unsigned i);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERANDRULES_H

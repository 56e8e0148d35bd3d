// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that depend on data. A tensor with such a size is as large as it can
// get, and its real size is a tensor of its own, made by the operator that
// finds it out. What lies beyond holds anything: operators that only map
// elements need not care; others must, so every operator that takes such
// tensors says so here, and the rest is refused.
#ifndef ASHLAR_LIB_IMPORT_ONNX_RUNTIMESIZES_H
#define ASHLAR_LIB_IMPORT_ONNX_RUNTIMESIZES_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

/// What result 0 of the node has for sizes, empty when none depends on data or
/// the operator sets them itself. Fails, having said so, for operators that
/// cannot take operand sizes that do.
mlir::LogicalResult inferSizes(NodeImporter &node, llvm::StringRef domain,
                               llvm::SmallVectorImpl<mlir::Value> &sizes);

/// Whether an axis has a size that depends on data.
bool isSized(llvm::ArrayRef<mlir::Value> sizes, int64_t axis);

/// Whether all results have the sizes of the first.
bool sharesSizes(llvm::StringRef op);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_RUNTIMESIZES_H

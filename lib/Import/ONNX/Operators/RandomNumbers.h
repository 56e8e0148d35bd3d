// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_RANDOMNUMBERS_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_RANDOMNUMBERS_H

#include "../TensorBuilder.h"

namespace ashlar::onnx_import {

/// Which elements of `shape` a node keeps that drops a share `ratio` of them,
/// a tensor of one element of `type`.
mlir::Value drawKept(NodeImporter &node, llvm::ArrayRef<int64_t> shape,
                     mlir::Value ratio, ElementType type);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_RANDOMNUMBERS_H

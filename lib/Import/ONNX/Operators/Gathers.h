// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_GATHERS_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_GATHERS_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

/// The data at places `indices` of one axis, whose dimensions replace it.
mlir::Value gatherAxis(mlir::ImplicitLocOpBuilder &b, mlir::Value data,
                       mlir::Value indices, int64_t axis);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_GATHERS_H

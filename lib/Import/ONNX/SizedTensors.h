// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of sizes that depend on data, and those sizes, as other tensors.
#ifndef ASHLAR_LIB_IMPORT_ONNX_SIZEDTENSORS_H
#define ASHLAR_LIB_IMPORT_ONNX_SIZEDTENSORS_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

/// The elements that are used, one after the other from the start, in a tensor
/// as large as before.
mlir::Value makeDense(mlir::ImplicitLocOpBuilder &b,
                      const ImportedValue &tensor);

/// A shape as a tensor: what is known, and what depends on data.
mlir::Value shapeAsTensor(mlir::ImplicitLocOpBuilder &b,
                          llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<mlir::Value> sizes);

/// A size as a tensor that nothing else reads.
mlir::Value copyOfSize(mlir::ImplicitLocOpBuilder &b, mlir::Value size);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_SIZEDTENSORS_H

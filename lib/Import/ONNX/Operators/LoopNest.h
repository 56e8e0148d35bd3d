// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is sequential by its nature: loops that carry tensors.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_LOOPNEST_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_LOOPNEST_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

/// Walks `shape` in row-major order; `body` gets the indices and the values
/// carried, and returns what the next step gets.
llvm::SmallVector<mlir::Value>
loopOver(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
         mlir::ValueRange initial,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(
             mlir::OpBuilder &, mlir::Location, mlir::ValueRange indices,
             mlir::ValueRange carried)>
             body);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_LOOPNEST_H

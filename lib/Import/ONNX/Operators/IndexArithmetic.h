// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices that a model computes. They are read while the model runs, and may
// be anything: every index is brought into bounds before it is used.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_INDEXARITHMETIC_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_INDEXARITHMETIC_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

/// An integer that counts from the end when negative, as a place in an axis of
/// `dim` elements (one or more); what is out of bounds gives the nearest.
mlir::Value boundedIndex(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value integer, int64_t dim);
/// An index clamped to [0, dim).
mlir::Value clampIndex(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value index, int64_t dim);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_INDEXARITHMETIC_H

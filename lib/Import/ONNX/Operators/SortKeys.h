// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and their places as integers that are compared: what asks for the
// place of an extreme element becomes a maximum, which any machine reduces in
// any order.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_SORTKEYS_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_SORTKEYS_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

/// A signed integer of the value's width that is greater where the value is.
/// Zeros are equal, and so are NaNs, which are greater than all numbers.
mlir::Value orderedKey(mlir::OpBuilder &b, mlir::Location loc, ElementType type,
                       mlir::Value value);

/// Of equal keys, which place is greater.
enum class Ties { FirstIsGreater, LastIsGreater };

/// Whether keys of so many bits and places below `places` fit into one i64.
bool fitPacked(unsigned keyBits, int64_t places);
/// An i64 that is greater where the key is, or at equal keys the place, an i64.
/// It is less than the greatest i64.
mlir::Value packKey(mlir::OpBuilder &b, mlir::Location loc, mlir::Value key,
                    mlir::Value place, Ties ties);
/// The place in what packKey made.
mlir::Value placeOfPacked(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value packed, Ties ties);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_SORTKEYS_H

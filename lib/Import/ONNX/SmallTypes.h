// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's types of less than a byte, and its floats of a byte. Here an element
// of one is an i8: of an integer its value, of a float its code. They are read
// and written in f32 or wider integers; nothing is computed in them.
#ifndef ASHLAR_LIB_IMPORT_ONNX_SMALLTYPES_H
#define ASHLAR_LIB_IMPORT_ONNX_SMALLTYPES_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

bool isSmallFloat(ElementType type);   ///< f8 of all kinds, f8e8m0, f4
bool isSmallInteger(ElementType type); ///< int4, uint4, int2, uint2

/// Bits of an element as a file packs it: 2, 4 or 8 for a type that fits into
/// a byte, 0 for others.
unsigned packedBits(ElementType type);

/// How a float that a narrow type does not hold is cast.
struct CastRules {
  bool saturate = true; ///< to the largest value; otherwise to infinity or NaN
  enum Rounding { Up, Down, Nearest } scaleRounding = Up; ///< to f8e8m0
};

/// The f32 that a code means.
mlir::Value decodeSmallFloat(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value code, ElementType type);
/// The code of an f32, rounded to the nearest value, halves to even.
mlir::Value encodeSmallFloat(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value value, ElementType type,
                             CastRules rules);
/// The low bits of an i32, as an element.
mlir::Value wrapSmallInteger(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value value, ElementType type);

/// The elements of `shape` out of packed bytes, the lowest bits first.
mlir::Value unpack(mlir::ImplicitLocOpBuilder &b, mlir::Value bytes,
                   llvm::ArrayRef<int64_t> shape, ElementType type);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_SMALLTYPES_H

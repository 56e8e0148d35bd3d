// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_QUANTIZATION_H
#define ASHLAR_LIB_IMPORT_ONNX_QUANTIZATION_H

#include "TensorBuilder.h"

namespace ashlar::onnx_import {

/// One float, already divided by its scale, rounded to the nearest integer
/// (halves to even), moved by the zero point (null for none; of the type
/// `to`) and saturated to the integer type `to`. NaN gives the lowest value.
mlir::Value roundToQuantized(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value scaled, mlir::Value zeroPoint,
                             ElementType to);

/// A tensor of f32 in uint8, with the scale and the zero point that its range
/// needs, extended to hold zero.
struct DynamicCodes {
  mlir::Value codes, scale, zero;
};
DynamicCodes quantizeDynamically(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// Sums of codes along an axis, in i32.
mlir::Value sumCodes(mlir::ImplicitLocOpBuilder &b, mlir::Value codes,
                     int64_t axis, bool keepDims, ElementType type);

/// One factor of a product of codes: its zero point, and what that multiplies,
/// the sums of the other factor's codes (i32). Both broadcast to the product;
/// null: the zero point is zero.
struct FactorZero {
  mlir::Value zero, otherSums;
  ElementType type; ///< of the zero point
};
/// What a product of codes in i32, `depth` terms each, is of the numbers that
/// they stand for:
///   sum (a - az)(b - bz) = sum a b - az sum b - bz sum a + k az bz
mlir::Value subtractZeros(mlir::ImplicitLocOpBuilder &b, mlir::Value product,
                          const FactorZero &lhs, const FactorZero &rhs,
                          int64_t depth);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_QUANTIZATION_H

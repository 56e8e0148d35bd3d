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

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_QUANTIZATION_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor whose elements are bytes less a zero point, times a scale: what it
// was before it was dequantized, and how it came from there. Bytes are integers
// or the codes of floats, which have no zero points.
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_QUANTIZEDTENSOR_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_QUANTIZEDTENSOR_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace ashlar {

/// A number for the whole tensor, or one for each element along some dims.
template <typename T> struct QuantizationParameter {
  llvm::SmallVector<int64_t> shape; ///< of the tensor's rank, 1 where constant
  llvm::SmallVector<T> values;      ///< in row-major order

  bool isUniform() const { return values.size() == 1; }
  bool isUniformly(T value) const {
    return isUniform() && values.front() == value;
  }
};

struct QuantizedTensor {
  mlir::Value root; ///< the bytes
  bool isUnsigned = false;
  mlir::FloatType code; ///< that the bytes are of; null: they are integers
  /// Pads, reshapes and transposes from the bytes to the tensor.
  llvm::SmallVector<mlir::Operation *> path;
  /// Both in the shape of the tensor.
  QuantizationParameter<int64_t> zeroPoint;
  QuantizationParameter<float> scale; ///< of one 1 where the tensor is integer
  bool isScaled = false;
  /// Tensors of one element, a byte and an f32, of what each call chooses, or
  /// null: what they hold is added to the zero point and multiplied by the
  /// scale, which are uniform then.
  mlir::Value computedZero, computedScale;
  bool computedZeroIsUnsigned = false;

  bool hasNoZeroPoint() const {
    return !computedZero && zeroPoint.isUniformly(0);
  }

  /// Bytes that change sign, whose zero point moves along.
  void flip() {
    for (int64_t &zero : zeroPoint.values)
      zero += isUnsigned ? -128 : 128;
    isUnsigned = !isUnsigned;
  }
};

/// What `value`, of f32 or i32 or of bytes that its reader extends, was. Fails
/// where it was no bytes, or where zero points and scales are neither constants
/// that follow dims of it nor single numbers.
std::optional<QuantizedTensor> findQuantized(mlir::Value value,
                                             bool isUnsigned);

/// The one element of `tensor`.
mlir::Value extractOne(mlir::OpBuilder &b, mlir::Location location,
                       mlir::Value tensor);

/// The way of `tensor` with bytes in place of what they were dequantized to, or
/// with floats, beginning at `bytes`; margins hold the zero point. With
/// `channels`, so many zeros stand behind the elements along `dim`.
mlir::Value moveBytes(mlir::OpBuilder &b, const QuantizedTensor &tensor,
                      mlir::Value bytes, unsigned dim = 0,
                      int64_t channels = 0);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_QUANTIZEDTENSOR_H

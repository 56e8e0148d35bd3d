// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction of bytes that were dequantized or had their zero points
// subtracted, before it is written.
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_INTEGERPRODUCT_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_INTEGERPRODUCT_H

#include "QuantizedTensor.h"

namespace ashlar {

/// One of the two operands of a product.
struct IntegerFactor {
  QuantizedTensor tensor;
  mlir::AffineMap map;
  /// The bytes in the operand's own order where they are constant, else empty;
  /// numbers of the other sign than the tensor's where they change it.
  llvm::ArrayRef<char> weights;
  bool changesSign = false;

  bool isConstant() const { return !weights.empty(); }

  int64_t weight(int64_t i) const {
    char byte = weights[weights.size() == 1 ? 0 : i];
    if (tensor.isUnsigned != changesSign)
      return int64_t(uint8_t(byte)) - (changesSign ? 128 : 0);
    return int64_t(int8_t(byte)) + (changesSign ? 128 : 0);
  }
};

struct IntegerProduct {
  mlir::linalg::GenericOp op;
  IntegerFactor factors[2];
  /// The reduced dim along which both operands go one by one, if one does.
  std::optional<unsigned> channel;
  int64_t padding = 0; ///< zeros behind the channels
  /// Of codes of floats: what the operands are before they are multiplied,
  /// f16 or bf16, where no unit takes them as they are.
  mlir::FloatType decoded;

  bool isFloat() const { return bool(factors[0].tensor.code); }
};

/// Writes the product, and what its zero points and scales make of it, in place
/// of the op. `flipped`: the bytes to be read in place of others.
void writeIntegerProduct(
    const IntegerProduct &product,
    const llvm::DenseMap<mlir::Value, mlir::Value> &flipped);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_INTEGERPRODUCT_H

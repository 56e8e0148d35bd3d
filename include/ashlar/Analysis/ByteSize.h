// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many bytes tensors and memrefs take in memory and in files: dense, each
// element in whole bytes, booleans in one.
#ifndef ASHLAR_ANALYSIS_BYTESIZE_H
#define ASHLAR_ANALYSIS_BYTESIZE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace ashlar {

/// Bytes of one element of a number type.
inline int64_t elementBytes(mlir::Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Bytes of a static shape. Sizes were bounded when the model was imported, so
/// the product does not overflow.
inline int64_t byteSize(mlir::ShapedType type) {
  return type.getNumElements() * elementBytes(type.getElementType());
}

/// The same for a type that is known to be shaped.
inline int64_t byteSize(mlir::Type type) {
  return byteSize(llvm::cast<mlir::ShapedType>(type));
}

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_BYTESIZE_H

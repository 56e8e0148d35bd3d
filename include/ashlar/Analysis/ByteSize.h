// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many bytes tensors and memrefs take in memory and in files: dense, each
// element in whole bytes, booleans in one.
#ifndef ASHLAR_ANALYSIS_BYTESIZE_H
#define ASHLAR_ANALYSIS_BYTESIZE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

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

/// Bytes of a shape that a model chose; nothing where a size is negative or no
/// memory could hold it: a tebibyte is more than any tensor has. A size of zero
/// does not excuse the others, since strides are products of them.
inline std::optional<int64_t> checkedByteSize(mlir::Type element,
                                              llvm::ArrayRef<int64_t> shape) {
  int64_t bytes = elementBytes(element);
  for (int64_t dim : shape)
    if (dim < 0 || llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes) ||
        bytes >> 40)
      return std::nullopt;
  return llvm::is_contained(shape, 0) ? 0 : bytes;
}

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_BYTESIZE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes and byte sizes of described tensors.

#ifndef ASHLAR_RUNTIME_LIB_TENSORSHAPE_H
#define ASHLAR_RUNTIME_LIB_TENSORSHAPE_H

#include "OwnMemory.h"
#include "SizeExpression.h"

namespace ashlar::runtime {

/// The dimensions for these symbols, and their product in bytes. False when a
/// size cannot be computed or the product overflows. `shape` holds
/// ASHLAR_MAX_RANK numbers.
[[nodiscard]] bool evaluateShape(const fb::TensorDescription &tensor,
                                 const int64_t *symbols, int64_t *shape,
                                 uint64_t &bytes);

/// The same with every symbol at its largest, as the compiler computed it.
[[nodiscard]] bool maximumShape(const fb::TensorDescription &tensor,
                                int64_t *shape, uint64_t &bytes);

/// Whether no symbol takes part.
bool isStatic(const fb::TensorDescription &tensor);

/// Multiplies; false on overflow or a negative dimension.
[[nodiscard]] bool shapeBytes(uint32_t type, const int64_t *shape,
                              uint32_t rank, uint64_t &bytes);

/// "1x3x224x224", "scalar" for rank 0.
String shapeText(const int64_t *shape, uint32_t rank);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_TENSORSHAPE_H

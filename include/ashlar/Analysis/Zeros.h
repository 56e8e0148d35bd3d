// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zeros of every type.
#ifndef ASHLAR_ANALYSIS_ZEROS_H
#define ASHLAR_ANALYSIS_ZEROS_H

#include "mlir/IR/Value.h"

namespace ashlar {

/// Whether `value` is a constant zero, of either sign: an element, or a tensor
/// or vector of nothing else.
bool isZero(mlir::Value value);

/// Whether `tensor` is a linalg.fill with zero.
bool isFilledWithZero(mlir::Value tensor);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_ZEROS_H

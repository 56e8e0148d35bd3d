// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors seen through reshapes, which move nothing.
#ifndef ASHLAR_ANALYSIS_RESHAPES_H
#define ASHLAR_ANALYSIS_RESHAPES_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Value.h"

namespace ashlar {

/// What `value` was before it was collapsed and expanded.
mlir::Value behindReshapes(mlir::Value value);

/// Whether that is a constant.
bool isConstantBehindReshapes(mlir::Value value);

/// That constant in the shape of `value`, without a copy of its bytes; or null.
mlir::TypedAttr constantBehindReshapes(mlir::Value value);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_RESHAPES_H

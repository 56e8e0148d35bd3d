// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of constants as they lie in memory. Those of a model's file are
// mapped, so nothing is aligned.
#ifndef ASHLAR_ANALYSIS_CONSTANTBYTES_H
#define ASHLAR_ANALYSIS_CONSTANTBYTES_H

#include "mlir/IR/BuiltinAttributes.h"

namespace ashlar {

/// Of a resource; empty where the file that holds it is not there.
llvm::ArrayRef<char> resourceBytes(mlir::DenseResourceElementsAttr resource);

/// Of a resource, or of an attribute's own elements: those of a splat are one,
/// booleans are packed. Empty for null and for other attributes.
llvm::ArrayRef<char> constantBytes(mlir::Attribute constant);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_CONSTANTBYTES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_H
#define ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ashlar {

/// On an op that hangs on constants alone: it is left for calls to compute,
/// with what hangs on it, since its elements hang on a caller's sizes.
inline constexpr llvm::StringLiteral sizedAttrName = "ashlar.sized";

/// On such an op and those in its body, until there are kernels: a number for
/// all that are equal at all sizes. Who is equal at one size alone stays apart.
inline constexpr llvm::StringLiteral apartAttrName = "ashlar.apart";

#define GEN_PASS_DECL
#include "ashlar/Transforms/Simplify/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "ashlar/Transforms/Simplify/Passes.h.inc"
} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_H
#define ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ashlar {

/// On an op that hangs on constants alone: it is left for calls to compute,
/// with what hangs on it, since its elements hang on a caller's sizes.
inline constexpr llvm::StringLiteral sizedAttrName = "ashlar.sized";

#define GEN_PASS_DECL
#include "ashlar/Transforms/Simplify/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "ashlar/Transforms/Simplify/Passes.h.inc"
} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_H

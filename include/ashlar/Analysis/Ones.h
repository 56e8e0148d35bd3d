// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_ONES_H
#define ASHLAR_ANALYSIS_ONES_H

#include "llvm/ADT/StringRef.h"

namespace ashlar {

/// On a contraction of one term: all elements of b are one, so that its sums
/// are the elements of a. What reads kernels no longer sees the constant.
inline constexpr llvm::StringLiteral onesAttrName = "tile.ones";

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_ONES_H

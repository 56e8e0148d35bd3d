// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_TILE_THREADS_H
#define ASHLAR_TRANSFORMS_TILE_THREADS_H

#include "llvm/ADT/StringRef.h"

namespace ashlar {

/// On a function whose threads compute each part of it together.
inline constexpr llvm::StringLiteral threadsAttrName = "tile.threads";

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_THREADS_H

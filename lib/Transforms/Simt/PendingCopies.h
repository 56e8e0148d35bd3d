// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is going on when a thread waits: it can only say how many of the groups
// that it has begun may be unfinished.
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_PENDINGCOPIES_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_PENDINGCOPIES_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar::simt {

/// Whether tokens are those of steps.
bool isForSteps(tile::WaitOp wait);

/// How many of the copies that `counts` takes may have been begun behind those
/// that are waited for, at least; nothing: it takes none of these.
std::optional<int64_t>
copiesBehind(tile::WaitOp wait, llvm::function_ref<bool(tile::CopyOp)> counts);

/// How many groups of steps may go on behind a wait for some.
int64_t stepsBehind(tile::WaitOp wait);

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_PENDINGCOPIES_H

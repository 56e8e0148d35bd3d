// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lets steps go on behind what follows them.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_STEPSBEHIND_H
#define ASHLAR_LIB_TRANSFORMS_TILE_STEPSBEHIND_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ashlar {

/// How many iterations' steps of a loop may be going on, as the fragments of
/// all their accumulators say.
int64_t stepsInFlight(mlir::scf::ForOp loop);

/// Why the loop's steps must end where they stand, or nothing.
std::string whyNotBehind(mlir::scf::ForOp loop);

/// Gives each step of the loop a token; what waits for them, and the releases
/// of slots behind it, end the iteration and are returned: they may stand in a
/// later one.
llvm::SmallVector<mlir::Operation *> beginSteps(mlir::scf::ForOp loop);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_STEPSBEHIND_H

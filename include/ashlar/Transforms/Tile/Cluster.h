// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workers that run together and share copies: those of the innermost
// scf.forall, or of a part of one that stands for several.
#ifndef ASHLAR_TRANSFORMS_TILE_CLUSTER_H
#define ASHLAR_TRANSFORMS_TILE_CLUSTER_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ashlar {

/// On an scf.forall: so many neighbours in its order are a cluster.
inline constexpr llvm::StringLiteral clusterAttrName = "tile.cluster";

/// How many iterations a loop over workers has along each of its dims; nothing:
/// some number is a value.
std::optional<llvm::SmallVector<int64_t>>
countWorkers(mlir::scf::ForallOp loop);

/// How many workers share the copy; 1: it is one worker's. Nothing: they are no
/// number that is known.
std::optional<int64_t> countSharers(tile::CopyOp copy);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_CLUSTER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lets a copy begin before its turn.
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_COPIESAHEAD_H
#define ASHLAR_LIB_TRANSFORMS_TILE_COPIESAHEAD_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace ashlar {

/// Why `copy` needs what else is done in `scope`, or nothing. The pure ops of
/// `scope` that its operands, and `others` beside them, come from join `slice`.
std::string whyNotAhead(tile::CopyOp copy, mlir::Operation *scope,
                        mlir::ValueRange others,
                        llvm::SetVector<mlir::Operation *> &slice);

/// How many times a loop goes round, or 0 where that is a value.
int64_t tripsOf(mlir::scf::ForOp loop);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_COPIESAHEAD_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_TILE_CUTKERNEL_H
#define ASHLAR_LIB_TRANSFORMS_TILE_CUTKERNEL_H

#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace ashlar {

/// Writes `root` as boxes of `sizes` (0: not cut) in one `scf.forall`, with
/// what it reads made inside for each, and returns the ops in it, `root` first.
/// Fails, having said so, where an op cannot be cut.
mlir::FailureOr<llvm::SmallVector<mlir::Operation *>>
cutKernel(mlir::TilingInterface root, llvm::ArrayRef<int64_t> sizes);

/// The largest divisor of `extent` that is at most `limit`; the limit itself
/// where that divisor would be less than half of it.
int64_t boxSize(int64_t extent, int64_t limit);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_TILE_CUTKERNEL_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lowerings of accumulators have in common: all ops on those that they
// convert go, and loops carry what they became.
#ifndef ASHLAR_TRANSFORMS_TILE_CONVERTACCUMULATORS_H
#define ASHLAR_TRANSFORMS_TILE_CONVERTACCUMULATORS_H

#include "mlir/Transforms/DialectConversion.h"

namespace ashlar {

/// Applies `patterns` to every op on accumulators inside `root`; `converter`
/// says what an accumulator becomes, itself where it stays.
llvm::LogicalResult convertAccumulators(mlir::Operation *root,
                                        mlir::TypeConverter &converter,
                                        mlir::RewritePatternSet patterns);

/// Fails where sums are shared by a group, lie partly beyond an end, or come
/// from memory: a worker's vectors hold none of that.
llvm::LogicalResult checkOfOneWorker(mlir::Operation *root);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_CONVERTACCUMULATORS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The margins of a result that no element is computed for.
#ifndef ASHLAR_TRANSFORMS_TILE_PADMARGINS_H
#define ASHLAR_TRANSFORMS_TILE_PADMARGINS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

/// Fills with `pad` what lies outside the image of `map`, a permutation of
/// dims with offsets, over boxes of `sizes` in the memref `target`. In the loop
/// over boxes with the counters `workers`, the first box does it.
void fillMargins(mlir::ImplicitLocOpBuilder &b, mlir::Value target,
                 mlir::AffineMap map, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                 mlir::TypedAttr pad, mlir::ValueRange workers);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_PADMARGINS_H

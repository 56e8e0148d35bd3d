// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_SIMT_SLOTS_H
#define ASHLAR_TRANSFORMS_SIMT_SLOTS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar::simt {

/// Which element of a slot, from its first on, lies at an index: what
/// LayoutAttr::getPlace says, as code.
mlir::Value placeInSlot(mlir::ImplicitLocOpBuilder &b, tile::SlotType slot,
                        mlir::ValueRange index);
/// So many steps further along each dim, a number where that can be had: then
/// many places that differ in their steps alone take one register.
mlir::Value placeInSlot(mlir::ImplicitLocOpBuilder &b, tile::SlotType slot,
                        mlir::ValueRange index, llvm::ArrayRef<int64_t> steps);
/// The other way round: which element lies at a place of a slot whose layout
/// leaves none unused.
llvm::SmallVector<mlir::Value> indexInSlot(mlir::ImplicitLocOpBuilder &b,
                                           tile::SlotType slot,
                                           mlir::Value place);

} // namespace ashlar::simt

#endif // ASHLAR_TRANSFORMS_SIMT_SLOTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a slot of a ring holds of an operand.
#ifndef ASHLAR_ANALYSIS_SLOTBOX_H
#define ASHLAR_ANALYSIS_SLOTBOX_H

#include "ashlar/Analysis/BoxReach.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// By dim of the operand, which lies at `map`, of a box of `extents` along
/// `dims`: how much of it the slot has, and how far apart that lies in memory.
/// Places between those that the box touches are left out where steps of a
/// window lie, but along the last dim, whose neighbours are copied together;
/// with `isWhole` nothing is.
struct SlotBox {
  /// That an engine of boxes takes, as #exec.tensor_map says them.
  static constexpr int64_t mostStep = 8;

  llvm::SmallVector<int64_t> shape, steps;

  SlotBox(mlir::AffineMap map, llvm::ArrayRef<unsigned> dims,
          llvm::ArrayRef<int64_t> extents, bool isWhole);

  int64_t numElements() const;
};

/// Whether an operand comes through several rings, whose slots are boxes of
/// each other's.
bool hasSeveralRings(tile::StrategyAttr strategy, tile::OperandKind operand);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_SLOTBOX_H

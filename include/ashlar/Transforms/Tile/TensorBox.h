// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies as engines take them that are told of a tensor once and then of a
// place in it.
#ifndef ASHLAR_TRANSFORMS_TILE_TENSORBOX_H
#define ASHLAR_TRANSFORMS_TILE_TENSORBOX_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// On a function: the teams of its roles, from its contraction's strategy.
inline constexpr llvm::StringLiteral teamsAttrName = "tile.teams";

/// What a copy takes of a tensor, an argument of the kernel. All but `at` from
/// the outermost dim on, in elements.
struct TensorBox {
  mlir::BlockArgument tensor;
  llvm::SmallVector<exec::SizeAttr> sizes;  ///< of the tensor
  llvm::SmallVector<mlir::OpFoldResult> at; ///< by dim of the tensor
  llvm::SmallVector<int64_t> before; ///< that begins so much farther in front
  llvm::SmallVector<int64_t> box;    ///< of one copy
  llvm::SmallVector<int64_t> steps;  ///< from what is taken to the next
  llvm::SmallVector<exec::SizeAttr> ends; ///< from where on zeros are read
  int64_t copies = 1;                     ///< along the last dim
  int64_t swizzleBytes = 0;               ///< 0: rows lie as they are counted
  /// Workers that copy such a box each, one behind the other along dim `shared`
  /// of the slot; 1: it is all of it.
  int64_t sharers = 1;
  unsigned shared = 0;

  /// That one copy takes.
  int64_t numElements() const;
};

/// Fills `box`, or says why the copy is none of a box: the engine reads whole
/// tensors whose rows begin at multiples of 16 bytes, up to the same ends in
/// each copy, and zeros behind them and in front of the tensor. Sizes that a
/// caller chooses may be anything but what a row's bytes hang on.
std::string whyNoBox(tile::CopyOp copy, TensorBox &box);

/// The same of what an accumulator stores, in boxes that are so long along each
/// of its dims, and whose rows are swizzled; nothing is stored behind the ends.
std::string whyNoStore(tile::DrainOp drain, llvm::ArrayRef<int64_t> sizes,
                       TensorBox &box);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_TENSORBOX_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tile register holds which matrix. LLVM has an allocator of its own,
// but it configures tiles once for a function: each shape that is anywhere in
// it takes registers of its own, and a kernel whose edges have other shapes
// than its middle runs out of them. Here each box of sums is a range of its
// own, which is configured when it begins:
//
//   configure 0: 16x64, 4: 16x64, 6: 16x64     a loop over whole boxes
//     zero 0; load 4, 6; multiply 0, 4, 6; ...; store 0
//   configure 0: 3x64, 4: 3x64, 6: 16x64       the rows that are left
//     ...
#ifndef ASHLAR_LIB_TARGETS_CPU_ALLOCATETILES_H
#define ASHLAR_LIB_TARGETS_CPU_ALLOCATETILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>

namespace ashlar::cpu {

/// What a register holds: both zero where it is not used.
struct TileShape {
  int64_t rows = 0, rowBytes = 0;
  bool operator==(const TileShape &other) const {
    return rows == other.rows && rowBytes == other.rowBytes;
  }
  bool operator!=(const TileShape &other) const { return !(*this == other); }
};

/// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1,
/// 18.1, palette 1: eight registers of up to 16 rows of up to 64 bytes.
constexpr unsigned numTiles = 8;
constexpr TileShape largestTile = {16, 64};

using TileConfiguration = std::array<TileShape, numTiles>;

/// The places where registers are configured, each before an operation, and
/// the register of each matrix.
struct TileAllocation {
  llvm::SmallVector<std::pair<mlir::Operation *, TileConfiguration>> places;
  llvm::DenseMap<mlir::Value, unsigned> registers;
};

/// Fails, with `why` a clause, where eight registers are too few. Zeros that
/// several sums begin with are written once for each of them first.
mlir::FailureOr<TileAllocation> allocateTiles(mlir::func::FuncOp kernel,
                                              std::string &why);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_ALLOCATETILES_H

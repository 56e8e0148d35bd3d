// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_ROCM_MATRIXUNITS_H
#define ASHLAR_LIB_TARGETS_ROCM_MATRIXUNITS_H

#include "ThreadWriter.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include <optional>
#include <string>

namespace ashlar::rocm {

/// An instruction of 16x16 sums. Our right operand is its left one and the
/// other way round, so that a lane has sums of neighbours in a row.
///
/// The instruction adds up its terms in whichever order, so which of them a
/// lane brings is free, as long as both operands agree: `terms` side by side,
/// those of the next lanes' row behind them.
struct MatrixUnit {
  std::string name;            ///< of the op of ROCDL
  int64_t terms;               ///< of one operand that a lane brings
  int64_t lanes;               ///< that bring different terms of the same row
  bool isMfma;                 ///< takes three controls behind its operands
  mlir::Type operand, element; ///< as the op has them
  mlir::Type leftElement = element; ///< of our left operand, if it has its own
  /// Of integers: operands whose numbers are unsigned. Wmma is told so, mfma
  /// knows signed ones alone.
  bool leftUnsigned = false, rightUnsigned = false;
};

/// Of a step's types and fragment; nothing: the chip has none. With
/// `roundsToTF32` factors of f32 may lose what TF32 does not have.
std::optional<MatrixUnit> unitOf(tile::ThreadStepOp op, Chip chip,
                                 bool roundsToTF32);

/// The op that `unit` says for each 16x16 of a wave's part.
void writeMatrixStep(tile::ThreadStepOp op, const MatrixUnit &unit);

} // namespace ashlar::rocm

#endif // ASHLAR_LIB_TARGETS_ROCM_MATRIXUNITS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bodies and which addresses vectors can follow.
#ifndef ASHLAR_ANALYSIS_VECTORBODIES_H
#define ASHLAR_ANALYSIS_VECTORBODIES_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace ashlar {

/// Whether `op` can run on a whole vector whose last lanes hold nothing: it
/// works element by element on numbers and never traps, as an integer division
/// would.
bool runsOnVectors(mlir::Operation &op);

/// Whether a block whose arguments are elements of tensors can: bits of a
/// vector of i1 are packed in memory, those of a tensor are not.
bool runsOnVectors(mlir::Block &body);

/// Whether all steps along a dim of `map` are of the same length.
bool isLinear(mlir::AffineMap map);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_VECTORBODIES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one structured op on memrefs becomes loops over vectors: which dim is
// the vector's, which dims are register tiles. The op is a nest of loops over
// its dims; every operand is addressed by an affine map of them.
//
//   out[m, n] += a[m, k] * b[k, n]     vector n, rows m: 6 x 2 vectors
//   out[c, y, x] += w[c, k] * in[k, y, x]
//   out[m] += a[m, k]                  vector k, sums added up at the end
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_VECTORPLAN_H
#define ASHLAR_LIB_TRANSFORMS_LANES_VECTORPLAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace ashlar {

/// One operand of the op as the loops see it.
struct VectorOperand {
  mlir::Value memref;
  mlir::AffineMap map;
  /// Step in elements along each dim of the loop nest; nullopt: not known.
  llvm::SmallVector<std::optional<int64_t>> steps;
};

struct VectorPlan {
  llvm::SmallVector<VectorOperand> inputs;
  llvm::SmallVector<VectorOperand> outputs; ///< with one map
  llvm::SmallVector<int64_t> ranges;        ///< static extents or kDynamic
  llvm::SmallVector<unsigned> outer;        ///< parallel dims walked one by one
  llvm::SmallVector<unsigned> reduced;      ///< reduction dims but the vector's
  unsigned vectorDim = 0;
  bool vectorIsReduced = false;
  int64_t lanes = 0;
  int64_t vectors = 1; ///< vectors side by side along the vector dim
  /// Parallel dims of the register tile and how many of each at once.
  llvm::SmallVector<std::pair<unsigned, int64_t>> rows;
  bool readsOutput = false; ///< the body uses an output's old value
  /// How two partial results of each output combine, where that is one op of
  /// the body for all of them; else none.
  llvm::SmallVector<mlir::Operation *, 1> combiners;
  /// Steps of the first reduced dim that are summed from zero before they are
  /// added to the rest, so that rounding errors do not grow with the length of
  /// a sum; 0: all in one.
  int64_t partialSteps = 0;

  bool isReduced(unsigned dim) const {
    return llvm::is_contained(reduced, dim) ||
           (vectorIsReduced && dim == vectorDim);
  }
};

/// A plan for `op` on a machine with `registers` vectors of `vectorBytes`, or
/// nullopt where it is better left to scalar loops.
std::optional<VectorPlan> planVectors(mlir::linalg::GenericOp op,
                                      int64_t vectorBytes, int64_t registers);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_VECTORPLAN_H

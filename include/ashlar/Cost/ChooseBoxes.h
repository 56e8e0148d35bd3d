// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many sums a contraction holds where the arithmetic is: boxes that fit,
// with their cycles, and the best of them.
#ifndef ASHLAR_COST_CHOOSEBOXES_H
#define ASHLAR_COST_CHOOSEBOXES_H

#include "ashlar/Cost/ContractShape.h"

namespace ashlar {

/// Cycles of boxes of registers: what each unit takes alone, and the slower of
/// the two for each box.
struct BoxCycles {
  double compute = 0, nearest = 0, total = 0;
  void add(double times, const BoxCycles &box) {
    compute += times * box.compute;
    nearest += times * box.nearest;
    total += times * box.total;
  }
};

/// A box that was considered; cost is what decided.
struct BoxCandidate {
  int64_t rows, inner, vectors; ///< `inner` of the rows along one dim
  double cost;
  BoxCycles boxes;
  /// The matrix unit whose registers the sums are in; null: vectors.
  const MultiplyUnit *unit = nullptr;
};

struct BoxChoice {
  llvm::SmallVector<BoxCandidate, 0> candidates;
  size_t best = 0;
};

/// Cycles of one term of a box of vectors.
BoxCycles termCycles(const Core &core, int64_t rows, int64_t vectors,
                     bool lanesOfA);

/// The candidate's extents along the parallel dims.
llvm::SmallVector<int64_t> boxOf(const ContractShape &shape,
                                 const BoxCandidate &candidate);

/// Groups of terms that one product of a matrix unit takes, of the innermost
/// reduced dim: as many as it can, or fewer where then all products are alike
/// and no more of them.
int64_t groupsTogether(const ContractShape &shape, const MultiplyUnit &unit);

BoxChoice chooseBoxes(const ContractShape &shape);

/// Of a box of so many vectors, no windows: rows that there are registers for.
int64_t mostRows(const ContractShape &shape, int64_t vectors);

} // namespace ashlar

#endif // ASHLAR_COST_CHOOSEBOXES_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an attention is to a unit whose left operand may be its own sums: which
// of its dims are rows, keys, terms and columns, and which unit takes them.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONPROBLEM_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONPROBLEM_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

class AttentionProblem {
public:
  AttentionProblem(tile::AttentionOp op, const MachineModel &machine)
      : op(op), machine(machine), parallel(op.getParallel()),
        reduced(op.getReduced()), scores(op.getScoresParallel()) {}

  /// Finds all that is said below. What is missing, or nothing.
  std::string find();

protected:
  tile::AttentionOp op;
  const MachineModel &machine;
  mlir::ArrayRef<int64_t> parallel, reduced, scores;
  int64_t row = -1, scoreRow = -1; ///< of the result, of scores
  unsigned keyDim = 0, termDim = 0;
  const MultiplyUnit *unit = nullptr;
  tile::FragmentAttr fragment;  ///< the unit's
  const Scope *group = nullptr; ///< who issues its steps
  const Memory *near = nullptr; ///< where it reads keys and values

private:
  std::string findDims();
  /// The fastest that takes types and sizes; says why there is none.
  std::string findUnit();
  const Memory *nearOf(const MultiplyUnit &one);
  bool suits(const MultiplyUnit &one);
  /// A unit reads terms, or rows and columns, side by side.
  bool areRowsPlain();
};

/// Why scores and sums would not stay with the threads of `machine` if callers
/// chose sizes of the op; empty: they would.
std::string whyNotHeld(tile::AttentionOp op, const MachineModel &machine);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONPROBLEM_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction as those see it who choose how it is computed.
#ifndef ASHLAR_COST_CONTRACTSHAPE_H
#define ASHLAR_COST_CONTRACTSHAPE_H

#include "ashlar/Cost/Core.h"

namespace ashlar {

struct ContractShape {
  ContractShape(tile::ContractOp op, const Core &core);

  bool inA(unsigned d) { return op.getAMap().isFunctionOfDim(d); }
  bool inB(unsigned d) { return op.getBMap().isFunctionOfDim(d); }
  /// A dim along which b stays the same.
  bool isRow(unsigned d) { return d != last && !inB(d) && inA(d); }
  /// How many rows read the same b.
  int64_t countRows();
  /// How far neighbours along `dim` lie apart in b as it is.
  int64_t strideOfB(unsigned dim);
  /// Whether neighbouring columns of b lie apart and are read by many rows.
  bool needsPacking();

  tile::ContractOp op;
  Core core;
  unsigned numParallel, last;             ///< `last` is the dim of the lanes
  llvm::SmallVector<int64_t> sizes;       ///< of all dims
  llvm::SmallVector<unsigned, 4> rowDims; ///< from the inside
  int64_t lanes;                          ///< of sums in a vector
  int64_t terms;                          ///< groups of them count as one
};

} // namespace ashlar

#endif // ASHLAR_COST_CONTRACTSHAPE_H

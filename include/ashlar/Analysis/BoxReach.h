// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_BOXREACH_H
#define ASHLAR_ANALYSIS_BOXREACH_H

#include "mlir/IR/AffineMap.h"

namespace ashlar {

/// How far an index moves along one dim inside a box that starts where the
/// dim's panels do.
int64_t stepAlong(mlir::AffineExpr expr, unsigned dim);

/// What a box of `extents` along `dims` touches of one dim of memory: how long
/// it is, how far in front of the box's first place its first one lies, where
/// steps go backwards, and a step of which all places are multiples, from the
/// first one on.
struct BoxReach {
  int64_t length = 1, before = 0, step = 1;

  BoxReach(mlir::AffineExpr expr, llvm::ArrayRef<unsigned> dims,
           llvm::ArrayRef<int64_t> extents);
};

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_BOXREACH_H

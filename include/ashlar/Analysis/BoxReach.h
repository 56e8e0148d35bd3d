// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_BOXREACH_H
#define ASHLAR_ANALYSIS_BOXREACH_H

#include "mlir/IR/AffineMap.h"

namespace ashlar {

/// How far an index moves along one dim inside a box that starts where the
/// dim's panels do.
int64_t stepAlong(mlir::AffineExpr expr, unsigned dim);

/// What a box of `extents` along `dims` touches of one dim of memory: how long
/// it is, and how far in front of the box's first place its first one lies,
/// where steps go backwards.
struct BoxReach {
  int64_t length = 1, before = 0;

  BoxReach(mlir::AffineExpr expr, llvm::ArrayRef<unsigned> dims,
           llvm::ArrayRef<int64_t> extents);
};

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_BOXREACH_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dims of a contraction, sorted by which of its operands they move.
#ifndef ASHLAR_ANALYSIS_CONTRACTDIMS_H
#define ASHLAR_ANALYSIS_CONTRACTDIMS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace ashlar {
namespace tile {
class ContractOp;
}

/// Dims are numbered as those of a `tile.contract`, parallel ones first. Each
/// is in one list, and lists are in order, outermost first.
struct ContractDims {
  llvm::SmallVector<int64_t> sizes;  ///< by dim
  llvm::SmallVector<unsigned> batch; ///< parallel, of both a and b
  llvm::SmallVector<unsigned> m;     ///< parallel, of a alone
  llvm::SmallVector<unsigned> n;     ///< parallel, of b alone
  llvm::SmallVector<unsigned> rest;  ///< parallel, of neither
  llvm::SmallVector<unsigned> k;     ///< reduced

  /// Points of some dims; 1 where there is none.
  int64_t count(llvm::ArrayRef<unsigned> dims) const {
    int64_t all = 1;
    for (unsigned dim : dims)
      all *= sizes[dim];
    return all;
  }
  /// Products that are added up.
  int64_t multiplyAdds() const {
    return count(batch) * count(m) * count(n) * count(rest) * count(k);
  }
};

/// By the op's maps. Sizes that a caller chooses are as the op has them.
ContractDims dimsOf(tile::ContractOp op);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_CONTRACTDIMS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a size stays within what it is at the largest sizes, for which
// memory is planned and kernels are made.
#ifndef ASHLAR_LIB_DRIVER_SIZEBOUNDS_H
#define ASHLAR_LIB_DRIVER_SIZEBOUNDS_H

#include "SizeFormulas.h"
#include "SizePieces.h"
#include "llvm/ADT/DenseMap.h"

namespace ashlar {

/// Where a size is larger than at the largest sizes, or below zero.
struct OutgrownSize {
  SizePoint point; ///< empty: that is not known, of too many sizes
  /// At least the sizes of the symbol from here on, with the largest of all
  /// others, are without such.
  std::optional<SizeCut> cut;
};

class SizeBounds {
public:
  explicit SizeBounds(std::vector<SizeRange> symbols);

  /// Nothing where the formula is from 0 to its value at the largest sizes at
  /// every size of the ranges.
  std::optional<OutgrownSize> find(mlir::AffineExpr formula);

private:
  bool isWithin(mlir::AffineExpr formula, const SizePoint &point) const;
  bool grows(mlir::AffineExpr formula);
  bool growsAlong(mlir::AffineExpr formula, size_t symbol) const;
  std::optional<OutgrownSize> search(mlir::AffineExpr formula);
  SizeCut cutBefore(mlir::AffineExpr formula, const SizePoint &bad) const;

  std::vector<SizeRange> symbols;
  SizePoint least, largest;
  llvm::DenseMap<mlir::AffineExpr, bool> growing;
  llvm::DenseMap<mlir::AffineExpr, std::optional<OutgrownSize>> found;
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZEBOUNDS_H

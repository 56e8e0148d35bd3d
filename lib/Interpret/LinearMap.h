// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An affine map that is evaluated often.
#ifndef ASHLAR_LIB_INTERPRET_LINEARMAP_H
#define ASHLAR_LIB_INTERPRET_LINEARMAP_H

#include "Machine.h"

namespace ashlar::interpret {

class LinearMap {
public:
  /// `offsets` are added to the results; none: zeros.
  explicit LinearMap(mlir::AffineMap map, llvm::ArrayRef<int64_t> offsets = {})
      : map(map), offsets(offsets), results(map.getNumResults()) {
    this->offsets.resize(map.getNumResults(), 0);
    for (mlir::AffineExpr expr : map.getResults())
      expr.walk([&](mlir::AffineExpr inner) {
        isLinear &= inner.getKind() != mlir::AffineExprKind::Mod &&
                    inner.getKind() != mlir::AffineExprKind::FloorDiv &&
                    inner.getKind() != mlir::AffineExprKind::CeilDiv;
      });
    llvm::SmallVector<int64_t> point(map.getNumDims(), 0), values;
    apply(map, point, base);
    for (int64_t &at : point) {
      at = 1;
      apply(map, point, values);
      at = 0;
      for (size_t r = 0; r != values.size(); ++r)
        factors.push_back(values[r] - base[r]);
    }
    for (size_t r = 0; r != base.size(); ++r)
      base[r] += this->offsets[r];
  }

  llvm::ArrayRef<int64_t> operator()(llvm::ArrayRef<int64_t> point) {
    if (!isLinear) {
      apply(map, point, results);
      for (size_t r = 0; r != results.size(); ++r)
        results[r] += offsets[r];
      return results;
    }
    results = base;
    const int64_t *factor = factors.data();
    for (int64_t at : point)
      for (int64_t &result : results)
        result += at * *factor++;
    return results;
  }

private:
  mlir::AffineMap map;
  llvm::SmallVector<int64_t> offsets, base, factors, results;
  bool isLinear = true;
};

} // namespace ashlar::interpret

#endif // ASHLAR_LIB_INTERPRET_LINEARMAP_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/BoxReach.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

int64_t ashlar::stepAlong(AffineExpr expr, unsigned dim) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    int64_t left = stepAlong(binary.getLHS(), dim);
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return left + stepAlong(binary.getRHS(), dim);
    case AffineExprKind::Mul:
      return left * cast<AffineConstantExpr>(binary.getRHS()).getValue();
    case AffineExprKind::Mod:
      return left;
    default:
      return 0;
    }
  }
  auto own = dyn_cast<AffineDimExpr>(expr);
  return own && own.getPosition() == dim ? 1 : 0;
}

BoxReach::BoxReach(AffineExpr expr, ArrayRef<unsigned> dims,
                   ArrayRef<int64_t> extents) {
  int64_t common = 0;
  for (auto [d, extent] : llvm::zip_equal(dims, extents)) {
    int64_t own = stepAlong(expr, d), reach = own * (extent - 1);
    length += std::abs(reach);
    before += std::max<int64_t>(0, -reach);
    if (extent > 1)
      common = std::gcd(common, own);
  }
  step = std::max<int64_t>(common, 1);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Simt/StepOperand.h"
#include "ashlar/Transforms/Simt/Slots.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar;

Value simt::StepOperand::placeOf(ImplicitLocOpBuilder &b, ValueRange point,
                                 ArrayRef<int64_t> steps) const {
  SmallVector<Value> place;
  SmallVector<int64_t> beyond;
  SmallVector<AffineExpr> from, to;
  for (unsigned d = 0; d != map.getNumDims(); ++d) {
    from.push_back(getAffineConstantExpr(0, map.getContext()));
    to.push_back(
        getAffineConstantExpr(steps.empty() ? 0 : steps[d], map.getContext()));
  }
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    place.push_back(affine::AffineApplyOp::create(
        b, AffineMap::get(map.getNumDims(), 0, expr), point));
    if (!offsets.empty())
      place.back() = arith::AddIOp::create(b, place.back(), offsets[d]);
    AffineExpr step =
        simplifyAffineExpr(expr.replaceDims(to) - expr.replaceDims(from), 0, 0);
    beyond.push_back(cast<AffineConstantExpr>(step).getValue());
  }
  return placeInSlot(b, slot.getType(), place, beyond);
}

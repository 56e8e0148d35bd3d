// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BoxView.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ashlar;

AffineExpr ashlar::lineOf(AffineExpr expr, ArrayRef<unsigned> dims,
                          int64_t begin, int64_t step) {
  MLIRContext *context = expr.getContext();
  AffineExpr line = getAffineConstantExpr(begin / step, context);
  for (auto [i, d] : llvm::enumerate(dims))
    if (int64_t own = stepAlong(expr, d); own % step == 0)
      line = line + getAffineDimExpr(i, context) * (own / step);
  return line;
}

OpFoldResult ashlar::countBefore(OpBuilder &b, Location loc, int64_t box,
                                 OpFoldResult at, OpFoldResult end) {
  return affine::makeComposedFoldedAffineMin(
      b, loc,
      AffineMap::get(1, 1,
                     {b.getAffineConstantExpr(box),
                      b.getAffineSymbolExpr(0) - b.getAffineDimExpr(0)},
                     b.getContext()),
      {at, end});
}

BoxView ashlar::viewOfBox(
    ImplicitLocOpBuilder &b, Value memory, AffineMap map,
    ArrayRef<OpFoldResult> at, ArrayRef<unsigned> dims,
    ArrayRef<int64_t> extents,
    llvm::function_ref<OpFoldResult(unsigned dim)> countIn,
    llvm::function_ref<OpFoldResult(unsigned result, OpFoldResult, int64_t)>
        lengthOf,
    bool mayBeEmpty) {
  SmallVector<OpFoldResult> offsets, lengths, steps;
  SmallVector<AffineExpr> local;
  for (AffineExpr expr : map.getResults()) {
    // Where a step goes backwards, the part begins at its last place.
    BoxReach reach(expr, dims, extents);
    offsets.push_back(affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), AffineMap::get(map.getNumDims(), 0, expr - reach.before),
        at));
    lengths.push_back(b.getIndexAttr(reach.length));
    OpFoldResult known =
        lengthOf ? lengthOf(offsets.size() - 1, offsets.back(), reach.length)
                 : OpFoldResult();
    if (known)
      lengths.back() = known;
    for (auto [d, extent] : llvm::zip_equal(dims, extents)) {
      if (known)
        break;
      int64_t step = stepAlong(expr, d);
      OpFoldResult count = step != 0 ? countIn(d) : OpFoldResult();
      if (count)
        lengths.back() = affine::makeComposedFoldedAffineApply(
            b, b.getLoc(),
            b.getAffineSymbolExpr(0) +
                (b.getAffineSymbolExpr(1) - extent) * step,
            {lengths.back(), count});
    }
    if (mayBeEmpty && !getConstantIntValue(lengths.back()))
      lengths.back() = affine::makeComposedFoldedAffineMax(
          b, b.getLoc(),
          AffineMap::get(0, 1,
                         {b.getAffineSymbolExpr(0), b.getAffineConstantExpr(0)},
                         b.getContext()),
          {lengths.back()});
    steps.push_back(b.getIndexAttr(1));
    local.push_back(lineOf(expr, dims, reach.before));
  }
  Value part = memory;
  if (!offsets.empty())
    part = memref::SubViewOp::create(b, memory, offsets, lengths, steps);
  return {part, AffineMap::get(dims.size(), 0, local, b.getContext())};
}

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

/// Where a row of the group's part lies in the accumulator, its columns left
/// out.
static SmallVector<Value> pointOfRow(ImplicitLocOpBuilder &b,
                                     tile::ThreadStepOp op,
                                     ArrayRef<int64_t> part, Value row) {
  SmallVector<Value> point = {row};
  if (part.size() > 2) {
    SmallVector<OpFoldResult> basis =
        getAsIndexOpFoldResult(b.getContext(), part.drop_back());
    point = SmallVector<Value>(
        affine::AffineDelinearizeIndexOp::create(b, row, basis).getResults());
  }
  for (auto [at, begin] : llvm::zip(point, op.getBegin().drop_back()))
    at = arith::AddIOp::create(b, at, begin);
  return point;
}

simt::StepPoint simt::pointOf(ImplicitLocOpBuilder &b, tile::ThreadStepOp op,
                              bool isLeft, int64_t first, Value line,
                              ArrayRef<int64_t> terms, Value depth) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, x, y);
  };
  SmallVector<int64_t> part(cast<tile::AccType>(op.getType()).getPart());
  StepPoint at;
  at.steps.assign(part.size(), 0);
  if (isLeft) {
    // Rows of several dims follow each other by no step.
    if (part.size() == 2)
      at.steps[0] = first;
    else
      line = add(line, index(first));
    at.point = pointOfRow(b, op, part, line);
    at.point.push_back(index(0));
  } else {
    at.point.assign(op.getBegin().begin(), op.getBegin().end());
    at.point.back() = add(at.point.back(), line);
    at.steps.back() = first;
  }
  for (int64_t start : terms) {
    at.point.push_back(index(0));
    at.steps.push_back(start);
  }
  at.point.back() = add(at.point.back(), depth);
  return at;
}

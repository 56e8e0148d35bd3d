// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OpenLine.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ashlar;

/// Of each value as many as `counts` says.
static OpFoldResult sumOf(ImplicitLocOpBuilder &b, ArrayRef<int64_t> counts,
                          ArrayRef<OpFoldResult> values) {
  AffineExpr sum = b.getAffineConstantExpr(0);
  for (auto [i, count] : llvm::enumerate(counts))
    sum = sum + b.getAffineSymbolExpr(i) * count;
  return affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), AffineMap::get(0, values.size(), sum), values);
}

OpenLine::OpenLine(ImplicitLocOpBuilder &b, Value memref, AffineMap map)
    : LineMemory(b, memref) {
  SmallVector<OpFoldResult> strides =
      memref::ExtractStridedMetadataOp::create(b, memref)
          .getConstifiedMixedStrides();
  SmallVector<int64_t> point(map.getNumDims(), 0);
  SmallVector<int64_t> origin = map.compose(point);
  start = sumOf(b, origin, strides);
  for (unsigned d = 0; d != map.getNumDims(); ++d) {
    point[d] = 1;
    SmallVector<int64_t> by = map.compose(point);
    for (auto [to, from] : llvm::zip(by, origin))
      to -= from;
    steps.push_back(sumOf(b, by, strides));
    point[d] = 0;
  }
}

Value OpenLine::place(ImplicitLocOpBuilder &b, ValueRange coordinates,
                      ArrayRef<int64_t> scales) const {
  int64_t begin = getConstantIntValue(start).value_or(0);
  AffineExpr sum = b.getAffineConstantExpr(begin);
  for (unsigned i = 0; i != coordinates.size(); ++i)
    if (std::optional<int64_t> step = getConstantIntValue(steps[i]))
      sum = sum + b.getAffineDimExpr(i) * (*step * scales[i]);
  Value at = affine::AffineApplyOp::create(
      b, AffineMap::get(coordinates.size(), 0, sum), coordinates);
  auto add = [&](Value more) { at = arith::AddIOp::create(b, at, more); };
  if (!getConstantIntValue(start))
    add(cast<Value>(start));
  for (unsigned i = 0; i != coordinates.size(); ++i) {
    if (getConstantIntValue(steps[i]))
      continue;
    Value count = coordinates[i];
    if (scales[i] != 1)
      count = arith::MulIOp::create(
          b, count, arith::ConstantIndexOp::create(b, scales[i]));
    add(arith::MulIOp::create(b, count, cast<Value>(steps[i])));
  }
  return at;
}

Value OpenLine::moved(ImplicitLocOpBuilder &b, Value from, unsigned dim,
                      OpFoldResult count) const {
  if (isZeroInteger(count))
    return from;
  auto value = [&](OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), number);
  };
  std::optional<int64_t> step = getConstantIntValue(steps[dim]),
                         times = getConstantIntValue(count);
  Value by =
      step && times
          ? value(b.getIndexAttr(*step * *times))
          : Value(arith::MulIOp::create(b, value(count), value(steps[dim])));
  return arith::AddIOp::create(b, from, by);
}

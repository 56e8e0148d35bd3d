// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/SumBounds.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/Reshapes.h"
#include <cmath>

using namespace mlir;
using namespace ashlar;

bool SumBounds::fit(int64_t bits) const {
  double limit = std::ldexp(1.0, int(bits) - 1);
  return least >= -limit && most < limit;
}

/// Of one column: weights above zero, and those below, each added up.
static std::vector<std::pair<double, double>> addColumns(tile::ContractOp op) {
  AffineMap map = op.getBMap();
  TypedAttr constant = constantBehindReshapes(op.getB());
  ArrayRef<char> bytes = constantBytes(constant);
  auto type = cast<RankedTensorType>(op.getB().getType());
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!map.isProjectedPermutation() || (dense && dense.isSplat()) ||
      int64_t(bytes.size()) != type.getNumElements())
    return {};
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides(rank, 0);
  int64_t columns = 1;
  for (int64_t i = rank; i-- > 0;) {
    unsigned dim = cast<AffineDimExpr>(map.getResult(i)).getPosition();
    if (dim < op.getParallel().size()) {
      strides[i] = columns;
      columns *= type.getDimSize(i);
    }
  }
  std::vector<std::pair<double, double>> sums(columns);
  SmallVector<int64_t> at(rank, 0);
  for (char byte : bytes) {
    int64_t column = 0;
    for (auto [index, stride] : llvm::zip(at, strides))
      column += index * stride;
    auto weight = double(static_cast<signed char>(byte));
    (weight > 0 ? sums[column].first : sums[column].second) += weight;
    for (int64_t d = rank; d-- > 0 && ++at[d] == type.getDimSize(d);)
      at[d] = 0;
  }
  return sums;
}

SumBounds ashlar::boundSums(tile::ContractOp op, int64_t leastA,
                            int64_t mostA) {
  // What pads is zero, and a part of the terms has others zero.
  auto low = double(std::min<int64_t>(leastA, 0));
  auto high = double(std::max<int64_t>(mostA, 0));
  double terms = 1;
  for (int64_t size : op.getReduced())
    terms *= double(size);
  SumBounds bounds = {terms * std::min(127 * low, -128 * high),
                      terms * std::max(127 * high, -128 * low)};
  std::vector<std::pair<double, double>> columns = addColumns(op);
  if (columns.empty())
    return bounds;
  SumBounds found = {0, 0};
  for (auto [above, below] : columns) {
    found.least = std::min(found.least, above * low + below * high);
    found.most = std::max(found.most, above * high + below * low);
  }
  return {std::max(bounds.least, found.least),
          std::min(bounds.most, found.most)};
}

SumBounds ashlar::boundSums(tile::ContractOp op, ElementRanges &ranges) {
  int64_t least = 0, most = 0;
  ArrayRef<ElementRange> elements = ranges.evaluate(op.getA());
  for (const ElementRange &element : elements) {
    least = std::min(least, element.integer.smin().getSExtValue());
    most = std::max(most, element.integer.smax().getSExtValue());
  }
  return elements.empty() ? boundSums(op) : boundSums(op, least, most);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units that add the products of several terms at once want those terms side
// by side: the innermost reduced dim is split, and its inner part is the group.
#include "ChooseStrategy.h"
#include "ashlar/Analysis/Reshapes.h"

using namespace mlir;
using namespace ashlar;

/// Whether terms along `dim` lie side by side in `map`'s operand.
static bool isContiguousAlong(AffineMap map, unsigned dim) {
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(dim))
      return false;
  SmallVector<int64_t> point(map.getNumDims(), 0);
  int64_t from = map.compose(point).back();
  point[dim] = 1;
  return map.compose(point).back() - from == 1;
}

/// Rows that share b, which pay for putting it into order.
static int64_t rowsOf(tile::ContractOp op) {
  int64_t rows = 1;
  for (auto [d, size] : llvm::enumerate(op.getParallel()))
    if (!op.getBMap().isFunctionOfDim(d))
      rows *= size;
  return rows;
}

bool ashlar::groupTerms(tile::ContractOp op, int64_t group) {
  constexpr int64_t fewRows = 4;
  unsigned numParallel = op.getParallel().size();
  ArrayRef<int64_t> reduced = op.getReduced();
  if (reduced.empty() || reduced.back() % group != 0)
    return false;
  unsigned inner = numParallel + reduced.size() - 1;
  AffineMap a = op.getAMap(), b = op.getBMap();
  if (a.isFunctionOfDim(numParallel - 1) || !isContiguousAlong(a, inner) ||
      !b.isProjectedPermutation() || !b.isFunctionOfDim(inner) ||
      (!constantBehindReshapes(op.getB()) && rowsOf(op) < fewRows))
    return false;
  Builder builder(op.getContext());
  unsigned numDims = inner + 1;
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d != numDims; ++d)
    dims.push_back(builder.getAffineDimExpr(d));
  dims.back() = dims.back() * group + builder.getAffineDimExpr(numDims);
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  for (AffineMap &map : MutableArrayRef(maps).take_front(2))
    map = map.replaceDimsAndSymbols(dims, {}, numDims + 1, 0);
  SmallVector<int64_t> sizes(reduced);
  sizes.back() /= group;
  sizes.push_back(group);
  op.setReduced(sizes);
  op.setMapsAttr(builder.getAffineMapArrayAttr(maps));
  return true;
}

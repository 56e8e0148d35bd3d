// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/AttentionBox.h"
#include "ashlar/Analysis/ByteSize.h"

using namespace mlir;
using namespace ashlar;

/// Whether `dim` stands alone in every result of the op's maps that it is in.
static bool standsAlone(tile::ContractOp op, unsigned dim) {
  return llvm::all_of(
      op.getMaps().getAsValueRange<AffineMapAttr>(), [&](AffineMap map) {
        return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
          return !expr.isFunctionOfDim(dim) || isa<AffineDimExpr>(expr);
        });
      });
}

SmallVector<int64_t> ashlar::chooseAttentionBox(tile::ContractOp scores,
                                                tile::ContractOp values,
                                                int64_t bytes, bool openSizes) {
  // A worker for each core of a large machine; rows enough for a box of sums.
  constexpr int64_t wanted = 8, fewest = 8;
  ArrayRef<int64_t> sizes = values.getParallel();
  SmallVector<int64_t> box(sizes);
  int64_t batches = 1, rowDim = -1;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    if (size == 1 || !values.getAMap().isFunctionOfDim(d))
      continue;
    if (!standsAlone(values, d))
      return {};
    if (values.getBMap().isFunctionOfDim(d)) {
      box[d] = 1;
      batches *= size;
    } else if (rowDim < 0) {
      rowDim = d;
    } else {
      return {};
    }
  }
  // The scores are cut at the same places: by dims of its own that do.
  for (auto [d, size] : llvm::enumerate(scores.getParallel()))
    if (size != 1 && d + 1 != scores.getParallel().size() &&
        !standsAlone(scores, d))
      return {};
  if (rowDim < 0 || values.getPad() || scores.getPad())
    return {};
  int64_t rows = sizes[rowDim];
  int64_t rowBytes =
      ShapedType::getNumElements(values.getReduced()) *
      elementBytes(getElementTypeOrSelf(scores.getInit().getType()));
  if (openSizes)
    return rows * rowBytes <= bytes ? box : SmallVector<int64_t>();
  int64_t most = std::min(bytes / std::max<int64_t>(rowBytes, 1),
                          std::max(fewest, rows * batches / wanted));
  int64_t taken = std::min(rows, most);
  while (taken > 0 && rows % taken != 0)
    --taken;
  if (taken < std::min(rows, fewest))
    return {};
  box[rowDim] = taken;
  return box;
}

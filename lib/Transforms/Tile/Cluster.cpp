// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/Cluster.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ashlar;

std::optional<SmallVector<int64_t>> ashlar::countWorkers(scf::ForallOp loop) {
  OpBuilder b(loop->getContext());
  SmallVector<int64_t> counts;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                 loop.getMixedStep())) {
    std::optional<int64_t> each = getConstantIntValue(step);
    if (!each)
      return std::nullopt;
    // Both may be places of a loop around it.
    SmallVector<Value> operands;
    AffineExpr exprs[2];
    for (auto [i, bound] : llvm::enumerate(ArrayRef{lower, upper})) {
      if (std::optional<int64_t> constant = getConstantIntValue(bound)) {
        exprs[i] = b.getAffineConstantExpr(*constant);
        continue;
      }
      exprs[i] = b.getAffineDimExpr(operands.size());
      operands.push_back(cast<Value>(bound));
    }
    AffineMap map = AffineMap::get(operands.size(), 0,
                                   (exprs[1] - exprs[0]).ceilDiv(*each));
    affine::fullyComposeAffineMapAndOperands(&map, &operands);
    affine::canonicalizeMapAndOperands(&map, &operands);
    auto constant = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
        map.getResult(0), map.getNumDims(), map.getNumSymbols()));
    if (!constant)
      return std::nullopt;
    counts.push_back(std::max<int64_t>(constant.getValue(), 0));
  }
  return counts;
}

std::optional<int64_t> ashlar::countSharers(tile::CopyOp copy) {
  if (!copy.getMulticast())
    return 1;
  auto loop = copy->getParentOfType<scf::ForallOp>();
  if (!loop)
    return std::nullopt;
  if (auto own = loop->getAttrOfType<IntegerAttr>(clusterAttrName))
    return own.getInt();
  std::optional<SmallVector<int64_t>> counts = countWorkers(loop);
  return counts ? std::optional(ShapedType::getNumElements(*counts))
                : std::nullopt;
}

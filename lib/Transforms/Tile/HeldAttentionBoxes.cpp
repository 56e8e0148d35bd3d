// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The boxes that an attention in registers goes through, and their ends: sizes
// of batches, rows and keys may be parameters of the kernel.
#include "HeldAttention.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace ashlar;

AffineExpr HeldAttention::sizeOf(const Box &box, unsigned d,
                                 SmallVectorImpl<Value> &symbols) {
  if (!box.open[d])
    return b.getAffineConstantExpr(box.sizes[d]);
  symbols.push_back(box.open[d]);
  return b.getAffineSymbolExpr(symbols.size() - 1);
}

static SmallVector<OpFoldResult> concatenated(ArrayRef<OpFoldResult> dims,
                                              ValueRange symbols) {
  SmallVector<OpFoldResult> all(dims);
  llvm::append_range(all, getAsOpFoldResult(symbols));
  return all;
}

static AffineMap mapOver(ArrayRef<AffineExpr> exprs,
                         ArrayRef<OpFoldResult> dims, ValueRange symbols) {
  return AffineMap::get(dims.size(), symbols.size(), exprs,
                        exprs.front().getContext());
}

OpFoldResult HeldAttention::apply(AffineExpr expr, ArrayRef<OpFoldResult> dims,
                                  ValueRange symbols) {
  return affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), mapOver(expr, dims, symbols), concatenated(dims, symbols));
}

OpFoldResult HeldAttention::least(ArrayRef<AffineExpr> exprs,
                                  ArrayRef<OpFoldResult> dims,
                                  ValueRange symbols) {
  return affine::makeComposedFoldedAffineMin(b, b.getLoc(),
                                             mapOver(exprs, dims, symbols),
                                             concatenated(dims, symbols));
}

OpFoldResult HeldAttention::most(ArrayRef<AffineExpr> exprs,
                                 ArrayRef<OpFoldResult> dims,
                                 ValueRange symbols) {
  return affine::makeComposedFoldedAffineMax(b, b.getLoc(),
                                             mapOver(exprs, dims, symbols),
                                             concatenated(dims, symbols));
}

LogicalResult HeldAttention::makeBoxes() {
  auto begin = [&](Box &box, ArrayRef<int64_t> parallel,
                   ArrayRef<int64_t> reduced, tile::StrategyAttr strategy) {
    box.sizes = llvm::to_vector(llvm::concat<const int64_t>(parallel, reduced));
    box.extents = box.sizes;
    box.at.assign(box.sizes.size(), b.getIndexAttr(0));
    box.row = strategy.getM().front();
    box.column = strategy.getN().front();
    box.term = strategy.getK().front();
  };
  begin(values, op.getParallel(), op.getReduced(), op.getStrategyAttr());
  begin(scores, op.getScoresParallel(), op.getScoresReduced(),
        op.getScoresStrategyAttr());
  for (unsigned d = 0; d != values.sizes.size(); ++d)
    for (tile::LevelKind kind : {tile::LevelKind::Grid, tile::LevelKind::Loop})
      if (int64_t tile = op.getTile(kind, d))
        values.extents[d] = tile;
  partKeys = op.getTile(tile::LevelKind::Grid, *op.getKeyLoop());
  scores.extents[scores.column] = values.extents[values.term];
  for (auto [i, expr] :
       llvm::enumerate(op.getWeightsMap().getResults().drop_back()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      scores.extents[i] = values.extents[dim.getPosition()];
  return findOpen();
}

LogicalResult HeldAttention::findOpen() {
  SmallVector<Value> all =
      openDims(op, scores.sizes.size() + values.sizes.size());
  scores.open.assign(all.begin(), all.begin() + scores.sizes.size());
  values.open.assign(all.begin() + scores.sizes.size(), all.end());
  for (unsigned d = 0; d != values.sizes.size(); ++d)
    if (values.open[d] && !op.getTile(tile::LevelKind::Grid, d) &&
        !op.getTile(tile::LevelKind::Loop, d))
      return refuse("dim " + std::to_string(d) + " of values");
  for (unsigned d = rank; d != scores.sizes.size(); ++d)
    if (scores.open[d])
      return refuse("terms of scores");
  if (partKeys && (values.open[values.term] || scores.open[scores.column]))
    return refuse("keys that a grid shares out");
  return success();
}

LogicalResult HeldAttention::refuse(const std::string &what) {
  return op.emitError(exec::openSizesRefusal)
         << "expected sizes of an attention in registers that callers choose "
            "to be those of batches, rows and keys, found one of "
         << what << "; fix it with --shape";
}

BoxView HeldAttention::view(Value memory, AffineMap map, const Box &box,
                            ArrayRef<unsigned> dims, bool &padded) {
  SmallVector<int64_t> extents;
  for (unsigned d : dims)
    extents.push_back(box.extents[d]);
  return viewOfBox(b, memory, map,
                   ArrayRef(box.at).take_front(map.getNumDims()), dims, extents,
                   [&](unsigned d) -> OpFoldResult {
                     if (!box.hasEdge(d))
                       return {};
                     padded = true;
                     SmallVector<Value> symbols;
                     AffineExpr size = sizeOf(box, d, symbols);
                     return least({b.getAffineConstantExpr(box.extents[d]),
                                   size - b.getAffineDimExpr(0)},
                                  {box.at[d]}, symbols);
                   });
}

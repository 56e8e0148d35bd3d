// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CutKernel.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

using namespace mlir;
using namespace ashlar;

/// All dims of an op in the order of its parameters; none: it has no others.
static SmallVector<int64_t> dimsOf(Operation *op) {
  SmallVector<int64_t> dims;
  auto note = [&](ArrayRef<int64_t> sizes) { llvm::append_range(dims, sizes); };
  if (auto contract = dyn_cast<tile::ContractOp>(op)) {
    note(contract.getParallel());
    note(contract.getReduced());
  } else if (auto attention = dyn_cast<tile::AttentionOp>(op)) {
    note(attention.getScoresParallel());
    note(attention.getScoresReduced());
    note(attention.getParallel());
    note(attention.getReduced());
  }
  return dims;
}

/// Sizes of which a box has one, or a part, are no parameters any more.
static void fixCutDims(Operation *op, ArrayRef<int64_t> whole) {
  auto parameters =
      op->getAttrOfType<DenseI64ArrayAttr>(exec::dimParametersAttrName);
  if (!parameters)
    return;
  SmallVector<int64_t> numbers(parameters.asArrayRef());
  for (auto [number, size, all] : llvm::zip(numbers, dimsOf(op), whole))
    if (size == 1 || size != all)
      number = -1;
  op->setAttr(exec::dimParametersAttrName,
              DenseI64ArrayAttr::get(op->getContext(), numbers));
}

FailureOr<SmallVector<Operation *>> ashlar::cutKernel(TilingInterface root,
                                                      ArrayRef<int64_t> sizes) {
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(getAsIndexOpFoldResult(root->getContext(), sizes));
  tiling.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  IRRewriter rewriter(root->getContext());
  rewriter.setInsertionPoint(root);
  FailureOr<scf::SCFTileAndFuseResult> tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, root, options);
  if (failed(tiled))
    return root->emitError("cannot be tiled into boxes");
  for (Operation *op : tiled->tiledAndFusedOps)
    fixCutDims(op, dimsOf(op == tiled->tiledAndFusedOps.front() ? root : op));
  for (auto [from, to] : tiled->replacements)
    rewriter.replaceAllUsesWith(from, to);
  if (isOpTriviallyDead(root))
    rewriter.eraseOp(root);
  return SmallVector<Operation *>(tiled->tiledAndFusedOps.getArrayRef());
}

int64_t ashlar::boxSize(int64_t extent, int64_t limit) {
  limit = std::max<int64_t>(limit, 1);
  if (extent <= limit)
    return extent;
  for (int64_t size = limit; 2 * size > limit; --size)
    if (extent % size == 0)
      return size;
  return limit;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CutKernel.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

using namespace mlir;
using namespace ashlar;

/// Sizes of which a box has one are no parameters any more.
static void fixCutDims(tile::ContractOp op) {
  auto parameters =
      op->getAttrOfType<DenseI64ArrayAttr>(exec::dimParametersAttrName);
  if (!parameters)
    return;
  SmallVector<int64_t> dims(parameters.asArrayRef());
  for (auto [d, size] : llvm::enumerate(op.getParallel()))
    if (size == 1)
      dims[d] = -1;
  op->setAttr(exec::dimParametersAttrName,
              DenseI64ArrayAttr::get(op.getContext(), dims));
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
    if (auto contract = dyn_cast<tile::ContractOp>(op))
      fixCutDims(contract);
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

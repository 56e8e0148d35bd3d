// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionWriter.h"
#include "CutKernel.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDATTENTIONPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

/// Whether the one loop over keys that there is counts all of them.
static bool loopsOverAllKeys(tile::AttentionOp op) {
  return llvm::hasSingleElement(op.getReduced());
}

/// Where the part's scores begin, whose grid has such boxes of the result.
static SmallVector<OpFoldResult> placeOfScores(tile::AttentionOp part,
                                               ArrayRef<int64_t> box) {
  Builder b(part.getContext());
  SmallVector<OpFoldResult> ofResult(box.size(), b.getIndexAttr(0)),
      ofScores(part.getScoresParallel().size(), b.getIndexAttr(0));
  if (auto grid = part->getParentOfType<scf::ForallOp>()) {
    unsigned next = 0;
    for (auto [place, size] : llvm::zip(ofResult, box))
      if (size != 0)
        place = grid.getInductionVar(next++);
  }
  for (auto [place, expr] :
       llvm::zip(ofScores, part.getWeightsMap().getResults().drop_back()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      place = ofResult[dim.getPosition()];
  return ofScores;
}

static LogicalResult expand(tile::AttentionOp op) {
  if (op.getKeyLoop() && op->hasAttr(exec::dimParametersAttrName) &&
      !loopsOverAllKeys(op))
    return op.emitError(exec::openSizesRefusal)
           << "expected keys of one dim in a loop over some of them, found "
           << op.getReduced().size() << "; fix them with --shape";
  // By the whole result's places.
  VisibleKeys visible = findVisibleKeys(op);
  SmallVector<int64_t> box;
  for (unsigned d = 0; d != op.getParallel().size(); ++d)
    box.push_back(op.getTile(tile::LevelKind::Grid, d));
  if (llvm::any_of(box, [](int64_t size) { return size != 0; })) {
    FailureOr<SmallVector<Operation *>> parts =
        cutKernel(cast<TilingInterface>(op.getOperation()), box);
    if (failed(parts))
      return failure();
    op = cast<tile::AttentionOp>(parts->front());
  }
  AttentionWriter writer(op);
  if (op.getKeyLoop())
    writer.writeLoop(visible, placeOfScores(op, box));
  else
    writer.writeRows();
  return success();
}

namespace {
struct ExpandAttention
    : ashlar::impl::ExpandAttentionPassBase<ExpandAttention> {
  void runOnOperation() override {
    SmallVector<tile::AttentionOp> ops;
    getOperation().walk([&](tile::AttentionOp op) { ops.push_back(op); });
    for (tile::AttentionOp op : ops)
      // What groups hold is expanded with accumulators.
      if (!op.hasGroup() && failed(expand(op)))
        return signalPassFailure();
  }
};
} // namespace

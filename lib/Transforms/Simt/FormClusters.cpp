// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Simt/Passes.h"
#include "ashlar/Transforms/Tile/Cluster.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMCLUSTERSPASS
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

/// The loop that is all that a worker of another loop does; null: it does more.
static scf::ForallOp innerOf(scf::ForallOp outer) {
  scf::ForallOp found;
  for (Operation &op : outer.getBody()->without_terminator()) {
    auto inner = dyn_cast<scf::ForallOp>(op);
    if ((!inner && !isMemoryEffectFree(&op)) || (inner && found))
      return {};
    found = inner ? inner : found;
  }
  return found;
}

/// One loop over the workers of both, those of the inner one the fastest.
static scf::ForallOp merge(scf::ForallOp outer, scf::ForallOp inner,
                           ArrayRef<int64_t> counts) {
  OpBuilder b(outer);
  SmallVector<OpFoldResult> from = outer.getMixedLowerBound(),
                            to = outer.getMixedUpperBound(),
                            step = outer.getMixedStep();
  for (int64_t count : counts) {
    from.push_back(b.getIndexAttr(0));
    to.push_back(b.getIndexAttr(count));
    step.push_back(b.getIndexAttr(1));
  }
  auto merged = scf::ForallOp::create(b, outer.getLoc(), from, to, step,
                                      ValueRange(), std::nullopt);
  merged->setDiscardableAttrs(inner->getDiscardableAttrDictionary());
  SmallVector<Value> numbers(merged.getInductionVars());
  for (auto [old, own] : llvm::zip(outer.getInductionVars(), numbers))
    old.replaceAllUsesWith(own);
  auto move = [&](scf::ForallOp loop) {
    for (Operation &op :
         llvm::make_early_inc_range(loop.getBody()->without_terminator()))
      if (&op != inner)
        op.moveBefore(merged.getTerminator());
  };
  move(outer);
  b.setInsertionPoint(merged.getTerminator());
  AffineExpr place = b.getAffineSymbolExpr(0) +
                     b.getAffineSymbolExpr(1) * b.getAffineSymbolExpr(2);
  for (auto [old, lower, number, each] : llvm::zip(
           inner.getInductionVars(), inner.getMixedLowerBound(),
           ArrayRef(numbers).take_back(counts.size()), inner.getMixedStep())) {
    OpFoldResult at = affine::makeComposedFoldedAffineApply(
        b, inner.getLoc(), place, {lower, number, each});
    old.replaceAllUsesWith(
        getValueOrCreateConstantIndexOp(b, inner.getLoc(), at));
  }
  move(inner);
  outer.erase();
  return merged;
}

static bool sharesCopies(scf::ForallOp loop) {
  return loop
      .walk([](tile::CopyOp copy) {
        return copy.getMulticast() ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// One worker goes through what is left of loops in loops.
static void inTurn(scf::ForallOp outer) {
  SmallVector<scf::ForallOp> loops;
  outer.getBody()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  if (loops.empty())
    return;
  outer.walk([](tile::CopyOp copy) { copy.setMulticast(false); });
  IRRewriter rewriter(outer.getContext());
  for (scf::ForallOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    (void)scf::forallToForLoop(rewriter, loop);
  }
}

namespace {
struct FormClusters : ashlar::impl::FormClustersPassBase<FormClusters> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (scf::ForallOp loop : llvm::to_vector(
             getOperation().getBody().front().getOps<scf::ForallOp>()))
      form(loop);
  }

  static void form(scf::ForallOp loop) {
    std::optional<SmallVector<int64_t>> counts = countWorkers(loop);
    while (scf::ForallOp inner = innerOf(loop)) {
      counts = countWorkers(inner);
      if (!counts)
        break;
      loop = merge(loop, inner, *counts);
    }
    inTurn(loop);
    if (counts && sharesCopies(loop))
      loop->setAttr(clusterAttrName, OpBuilder(loop).getI64IntegerAttr(
                                         ShapedType::getNumElements(*counts)));
  }
};
} // namespace

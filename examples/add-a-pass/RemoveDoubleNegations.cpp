// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is negated twice is what it was. Models written by hand have this, and
// derivatives have it everywhere.
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_REMOVEDOUBLENEGATIONSPASS
#include "ashlar/Transforms/Simplify/Passes.h.inc"
} // namespace ashlar

namespace {
struct RemovePair : OpRewritePattern<arith::NegFOp> {
  RemovePair(MLIRContext *context, Pass::Statistic &removed)
      : OpRewritePattern(context), removed(removed) {}

  LogicalResult matchAndRewrite(arith::NegFOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<arith::NegFOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "its operand is no negation");
    rewriter.replaceOp(op, inner.getOperand());
    ++removed;
    return success();
  }

  Pass::Statistic &removed;
};

struct RemoveDoubleNegations
    : ashlar::impl::RemoveDoubleNegationsPassBase<RemoveDoubleNegations> {
  using RemoveDoubleNegationsPassBase::RemoveDoubleNegationsPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RemovePair>(&getContext(), numRemoved);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

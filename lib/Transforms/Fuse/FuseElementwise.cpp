// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges elementwise chains with upstream's patterns. What is ours is the
// question of when that pays: a producer disappears into its only reader, and
// only where no element is computed twice.
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// Every element of the operand is read once.
bool readsOnce(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  return map.isProjectedPermutation() &&
         map.getNumResults() == consumer.getNumLoops();
}

bool shouldFuse(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  if (!producer)
    return false;
  // A producer without tensor inputs costs nothing to repeat.
  auto generic = dyn_cast<linalg::GenericOp>(producer);
  bool isCheap = generic && generic.getNumDpsInputs() == 0 &&
                 generic.getBody()->getOperations().size() <= 2;
  // What a loop reads is not computed again in each step.
  bool isOutside = producer->getBlock() != operand->getOwner()->getBlock();
  return isCheap || (!isOutside && producer->hasOneUse() && readsOnce(operand));
}

struct FuseElementwise
    : ashlar::impl::FuseElementwisePassBase<FuseElementwise> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

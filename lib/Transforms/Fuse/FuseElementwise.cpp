// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges elementwise chains with upstream's patterns. What is ours is the
// question of when that pays: a producer disappears into its only reader, and
// only where no element is computed twice.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Sums.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace ashlar;

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

/// Whether the op rounds numbers to bytes.
bool quantizes(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && getElementTypeOrSelf(generic->getResult(0)).isInteger(8) &&
         llvm::any_of(
             generic.getBody()->without_terminator(),
             [](Operation &inner) { return isa<math::RoundEvenOp>(inner); });
}

/// Whether the op rounds sums on their way to a kernel of other sums: it is
/// less that passes between them then.
bool narrowsSums(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto widthOf = [](Value value) {
    Type type = getElementTypeOrSelf(value);
    return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  };
  return producer && producer.getNumDpsInputs() != 0 &&
         followsOtherSums(*operand) &&
         llvm::any_of(producer.getDpsInputs(), [&](Value input) {
           return bringsSums(input) && widthOf(input) > widthOf(operand->get());
         });
}

/// How many operations one body may have. Each fusion copies both bodies, and
/// LLVM takes more than twice as long for twice as many: a chain that goes on
/// for ever is cut into kernels of this size, whose time is their arithmetic.
constexpr size_t mostOperations = 256;

/// Whether the two make a body that is too large.
bool isTooLarge(Operation *producer, OpOperand *operand) {
  auto first = dyn_cast<linalg::GenericOp>(producer);
  auto second = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return first && second &&
         first.getBody()->getOperations().size() +
                 second.getBody()->getOperations().size() >
             mostOperations;
}

bool shouldFuse(OpOperand *operand, bool keepBytes) {
  Operation *producer = operand->get().getDefiningOp();
  if (!producer || (keepBytes && quantizes(producer)) || narrowsSums(operand))
    return false;
  // A producer without tensor inputs costs nothing to repeat.
  auto generic = dyn_cast<linalg::GenericOp>(producer);
  bool isCheap = generic && generic.getNumDpsInputs() == 0 &&
                 generic.getBody()->getOperations().size() <= 2;
  if (isCheap)
    return true;
  // What a loop reads is not computed again in each step.
  bool isOutside = producer->getBlock() != operand->getOwner()->getBlock();
  if (isOutside || !producer->hasOneUse() || !readsOnce(operand) ||
      isTooLarge(producer, operand))
    return false;
  Operation *consumer = operand->getOwner();
  remark::passed(consumer->getLoc(), about(consumer, "Elementwise", "fusion"))
      << nodeName(producer->getLoc()) << " became part of it, saving "
      << remark::metric("BytesSaved", 2 * byteSize(operand->get().getType()))
      << " bytes";
  // What upstream makes of the two has the location of the second.
  consumer->setLoc(FusedLoc::get(consumer->getContext(),
                                 {producer->getLoc(), consumer->getLoc()}));
  return true;
}

/// Why an elementwise producer stands beside its reader, after all is done.
std::string whyNotFused(linalg::GenericOp producer, OpOperand *operand,
                        bool keepBytes) {
  if (narrowsSums(operand))
    return "it ends another contraction, whose sums it makes less";
  if (keepBytes && quantizes(producer))
    return "a device stores its bytes";
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  if (!producer->hasOneUse())
    return "its result has several readers: " + readerNames(producer);
  if (!readsOnce(operand))
    return consumer.getNumReductionLoops() != 0
               ? "the reduction reads each element many times"
               : "each element is read many times";
  if (producer->getBlock() != consumer->getBlock())
    return "it stands outside of the loop or branch that reads it";
  if (isTooLarge(producer, operand))
    return "together they have more than " + std::to_string(mostOperations) +
           " operations";
  return "their loops do not fit each other";
}

void explainRefusals(Operation *function, bool keepBytes) {
  if (!wantsRemarks(function))
    return;
  function->walk([&](linalg::GenericOp consumer) {
    for (OpOperand *operand : consumer.getDpsInputOperands()) {
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      if (!producer || producer.getNumReductionLoops() != 0)
        continue;
      remark::missed(consumer.getLoc(),
                     about(consumer, "Elementwise", "fusion"))
          << nodeName(producer.getLoc()) << " stays apart: "
          << remark::metric("Reason", whyNotFused(producer, operand, keepBytes))
          << "; " << remark::metric("Bytes", byteSize(operand->get().getType()))
          << " bytes are read back";
    }
  });
}

struct FuseElementwise
    : ashlar::impl::FuseElementwisePassBase<FuseElementwise> {
  using FuseElementwisePassBase::FuseElementwisePassBase;
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(
        patterns,
        [&](OpOperand *operand) { return shouldFuse(operand, keepBytes); });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    GreedyRewriteConfig config;
    // One that ends for want of iterations has failed, and would not say why.
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    explainRefusals(getOperation(), keepBytes);
  }
};
} // namespace

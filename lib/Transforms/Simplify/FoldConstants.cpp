// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces small constant expressions by their values, found by the constant
// evaluator that the import uses too.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/EvaluateConstant.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "ashlar/Transforms/Simplify/Passes.h.inc"
} // namespace ashlar

namespace {
int64_t bytesOf(Type element) {
  return element.isIntOrFloat() ? ashlar::elementBytes(element) : 8;
}

/// What the operands cost in the file; a splat costs an element, what is only a
/// place or an initial value for the result costs nothing.
struct Cost {
  int64_t elements = 0, bytes = 0;
};

Cost operandCost(Operation *op) {
  Cost cost;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr constant;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape() ||
        isa_and_present<linalg::FillOp, tensor::EmptyOp>(
            operand.getDefiningOp()))
      continue;
    bool isSplat =
        matchPattern(operand, m_Constant(&constant)) && constant.isSplat();
    int64_t elements = isSplat ? 1 : type.getNumElements();
    cost.elements += elements;
    cost.bytes += elements * bytesOf(type.getElementType());
  }
  return cost;
}

struct FoldConstants : ashlar::impl::FoldConstantsPassBase<FoldConstants> {
  using FoldConstantsPassBase::FoldConstantsPassBase;
  void runOnOperation() override {
    ashlar::ConstantEvaluator evaluator(maximumElements);
    Block &body = getOperation().getBody().front();
    foldBlock(body, evaluator);
    // Only now: an op that is made takes the memory of one that has gone, and
    // the evaluator would take it for that.
    eraseDead(body);
    larger.clear();
  }

private:
  /// The blocks of control flow within a block.
  static void forEachBlock(Operation &op,
                           llvm::function_ref<void(Block &)> visit) {
    if (isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op))
      for (Region &region : op.getRegions())
        if (!region.empty())
          visit(region.front());
  }

  static void eraseDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      forEachBlock(op, eraseDead);
      if (isOpTriviallyDead(&op))
        op.erase();
    }
  }

  /// Whether the result is larger than what the op reads, or than what that
  /// came from.
  bool isLarger(Operation *op, int64_t elements) const {
    Cost cost = operandCost(op);
    Type element = getElementTypeOrSelf(op->getResult(0));
    return elements > cost.elements ||
           elements * bytesOf(element) > 2 * cost.bytes ||
           llvm::any_of(op->getOperands(), [&](Value operand) {
             return larger.contains(operand.getDefiningOp());
           });
  }

  /// Left alone because of what they would cost in the file; never iterated.
  llvm::SmallPtrSet<Operation *, 8> larger;

  void foldBlock(Block &block, ashlar::ConstantEvaluator &evaluator) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      forEachBlock(op, [&](Block &inner) { foldBlock(inner, evaluator); });
      if (op.getNumResults() != 1 || isa<arith::ConstantOp>(op))
        continue;
      if (op.hasAttr(ashlar::sizedAttrName)) {
        evaluator.assume(op.getResult(0), {});
        continue;
      }
      auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
      if (!type)
        continue;
      // A fill is an initial value, made where it is used.
      bool isEmpty = type.hasStaticShape() && type.getNumElements() == 0;
      if (!isEmpty && isa<linalg::FillOp, tensor::EmptyOp>(op))
        continue;
      DenseElementsAttr value = evaluator.evaluate(op.getResult(0));
      // An op that loops over nothing leaves its initial value.
      auto loops = dyn_cast<linalg::LinalgOp>(op);
      if (!value && loops && loops.hasPureTensorSemantics() &&
          llvm::is_contained(loops.getStaticLoopRanges(), 0))
        op.getResult(0).replaceAllUsesWith(loops.getDpsInits()[0]);
      if (!value)
        continue;
      // A handful of elements is worth folding whatever it came from. Bytes
      // that are dequantized are worth more as bytes, to whoever multiplies
      // them.
      int64_t elements = value.getNumElements();
      if (!value.isSplat() && elements > 64 && isLarger(&op, elements)) {
        larger.insert(&op);
        continue;
      }
      OpBuilder b(&op);
      Value constant = arith::ConstantOp::create(b, op.getLoc(), value);
      op.getResult(0).replaceAllUsesWith(constant);
      ++numFolded;
    }
  }
};
} // namespace

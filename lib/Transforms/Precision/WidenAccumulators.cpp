// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums and products over a reduction are accumulated in f64. The accumulator's
// way through the body is followed from its argument to what is yielded; where
// only additions, subtractions and multiplications lie on it, they get the
// wider type, and so do products that are added.
#include "ashlar/Analysis/MapElements.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_WIDENACCUMULATORSPASS
#include "ashlar/Transforms/Precision/Passes.h.inc"
} // namespace ashlar

static bool accumulates(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op);
}

/// The ops from the accumulator to what is yielded, or none where there are
/// others among them.
static SmallVector<Operation *> chainOf(linalg::GenericOp op, unsigned result) {
  BlockArgument accumulator =
      op.getBody()->getArgument(op.getNumDpsInputs() + result);
  if (!accumulator.getType().isF32())
    return {};
  auto yield = op.getBody()->getTerminator();
  SmallVector<Operation *> chain;
  for (Value value = accumulator; value.hasOneUse();) {
    OpOperand &use = *value.getUses().begin();
    Operation *user = use.getOwner();
    if (user == yield)
      return use.getOperandNumber() == result ? chain
                                              : SmallVector<Operation *>();
    // Of a difference, only what it is taken from is an accumulator.
    if (user->getBlock() != op.getBody() || !accumulates(user) ||
        (isa<arith::SubFOp>(user) && use.getOperandNumber() != 0))
      return {};
    chain.push_back(user);
    value = user->getResult(0);
  }
  return {};
}

static void extendOperands(Operation *op) {
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get().getType().isF32())
      operand.set(arith::ExtFOp::create(b, op->getLoc(), b.getF64Type(),
                                        operand.get()));
}

/// Lets the chain compute in f64. Its accumulator has that type already.
static void widenChain(ArrayRef<Operation *> chain) {
  for (Operation *op : chain) {
    // A product that is nothing but a term of this sum is exact in f64.
    for (Value operand : op->getOperands())
      if (auto product = operand.getDefiningOp<arith::MulFOp>())
        if (product->hasOneUse() && product.getType().isF32() &&
            product->getBlock() == op->getBlock()) {
          extendOperands(product);
          product.getResult().setType(Float64Type::get(op->getContext()));
        }
    extendOperands(op);
    op->getResult(0).setType(Float64Type::get(op->getContext()));
  }
}

/// The tensor with its elements in another float type.
static Value convert(ImplicitLocOpBuilder &b, Value tensor, Type element) {
  auto made = ashlar::mapElements(
      b, b.getLoc(), tensor, element,
      [&](OpBuilder &b, Location loc, Value value) -> Value {
        if (element.isF64())
          return arith::ExtFOp::create(b, loc, element, value);
        return arith::TruncFOp::create(b, loc, element, value);
      });
  return made.getResult(0);
}

/// How many results are accumulated in f64 now.
static unsigned widen(linalg::GenericOp op) {
  SmallVector<SmallVector<Operation *>> chains;
  unsigned count = 0;
  for (unsigned i = 0; i != op->getNumResults(); ++i) {
    chains.push_back(chainOf(op, i));
    count += !chains.back().empty();
  }
  if (count == 0)
    return 0;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type wide = b.getF64Type();
  for (auto [i, chain] : llvm::enumerate(chains)) {
    if (chain.empty())
      continue;
    OpOperand *init = op.getDpsInitOperand(i);
    b.setInsertionPoint(op);
    init->set(convert(b, init->get(), wide));
    op.getBody()->getArgument(op.getNumDpsInputs() + i).setType(wide);
    widenChain(chain);
    OpResult result = op->getResult(i);
    result.setType(init->get().getType());
    b.setInsertionPointAfter(op);
    Value rounded = convert(b, result, b.getF32Type());
    result.replaceUsesWithIf(rounded, [&](OpOperand &use) {
      return use.getOwner() != rounded.getDefiningOp() &&
             !isa<tensor::DimOp>(use.getOwner());
    });
  }
  return count;
}

namespace {
struct WidenAccumulatorsPass
    : ashlar::impl::WidenAccumulatorsPassBase<WidenAccumulatorsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> reductions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() != 0 && op.hasPureTensorSemantics())
        reductions.push_back(op);
    });
    for (linalg::LinalgOp op : reductions) {
      rewriter.setInsertionPoint(op);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        FailureOr<linalg::GenericOp> made =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          continue;
        generic = *made;
      }
      numWidened += widen(generic);
    }
  }
};
} // namespace

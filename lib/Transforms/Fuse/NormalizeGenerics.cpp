// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One form for what may come in several: named ops become generic ones, and a
// sum of products that begins at something begins at zero and is added to it
// afterwards, which an epilogue can do.
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_NORMALIZEGENERICSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// The addition of a product to what `op` has summed so far, or null.
Operation *findAddition(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return nullptr;
  BlockArgument sum = op.getRegionOutputArgs()[0];
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) || !sum.hasOneUse())
    return nullptr;
  for (unsigned side : {0u, 1u}) {
    Operation *product = add->getOperand(1 - side).getDefiningOp();
    if (add->getOperand(side) == sum &&
        isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
      return add;
  }
  return nullptr;
}

/// sum(init) becomes init + sum(0).
void startAtZero(linalg::GenericOp op, Operation *addition) {
  Value init = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  OpBuilder b(op);
  Location location = op.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, location, init);
  auto emptyTensor = [&]() -> Value {
    return tensor::EmptyOp::create(b, location, sizes, type.getElementType());
  };
  Value zero = arith::ConstantOp::create(b, location,
                                         b.getZeroAttr(type.getElementType()));
  auto fill = linalg::FillOp::create(b, location, zero, emptyTensor());
  op.getDpsInitsMutable()[0].set(fill.getResult(0));
  b.setInsertionPointAfter(op);
  SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto total = linalg::GenericOp::create(
      b, location, type, ValueRange{init, op.getResult(0)}, emptyTensor(), maps,
      loops, [&](OpBuilder &inner, Location at, ValueRange x) {
        IRMapping operands;
        operands.map(addition->getOperands(), x.take_front(2));
        linalg::YieldOp::create(inner, at,
                                inner.clone(*addition, operands)->getResults());
      });
  op.getResult(0).replaceAllUsesExcept(total.getResult(0), total);
}

struct NormalizeGenerics
    : ashlar::impl::NormalizeGenericsPassBase<NormalizeGenerics> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      // Fills stay what passes look for.
      if (isa<linalg::FillOp>(op))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> made =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          continue;
        generic = *made;
      }
      Operation *addition = findAddition(generic);
      if (addition && !generic.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
        startAtZero(generic, addition);
    }
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core without products of 16 bits converts both factors in front of every
// multiplication: one element of the rows for each of a few products. What is
// computed is converted once instead, where it is made; constants stay as small
// as they are in the file, and are converted by vectors.
#include "ashlar/Analysis/MapElements.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_WIDENFACTORSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// The casts of a body that sums products of two operands.
SmallVector<arith::ExtFOp> castsOfFactors(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0 ||
      op.getNumResults() != 1 || !op.hasPureTensorSemantics())
    return {};
  SmallVector<arith::ExtFOp> casts;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto cast = dyn_cast<arith::ExtFOp>(inner))
      casts.push_back(cast);
    else if (!isa<arith::MulFOp, arith::AddFOp>(inner))
      return {};
  }
  return casts;
}

struct WidenFactors : ashlar::impl::WidenFactorsPassBase<WidenFactors> {
  using WidenFactorsPassBase::WidenFactorsPassBase;

  bool isNarrow(Type type) const {
    std::string name;
    llvm::raw_string_ostream(name) << type;
    return llvm::is_contained(types, name);
  }

  void runOnOperation() override {
    SmallVector<arith::ExtFOp> casts;
    getOperation().walk([&](linalg::GenericOp op) {
      llvm::append_range(casts, castsOfFactors(op));
    });
    for (arith::ExtFOp cast : casts)
      rewrite(cast);
  }

  void rewrite(arith::ExtFOp cast) {
    auto op = cast->getParentOfType<linalg::GenericOp>();
    auto argument = dyn_cast<BlockArgument>(cast.getIn());
    if (!argument || argument.getOwner() != op.getBody() ||
        !argument.hasOneUse() || !isNarrow(argument.getType()))
      return;
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    if (isConstantBehindReshapes(operand.get()))
      return;
    OpBuilder b(op);
    Type wide = cast.getType();
    auto widen = [&](OpBuilder &b, Location loc, Value value) -> Value {
      return arith::ExtFOp::create(b, loc, wide, value);
    };
    operand.set(
        mapElements(b, op.getLoc(), operand.get(), wide, widen).getResult(0));
    argument.setType(wide);
    cast.replaceAllUsesWith(Value(argument));
    cast.erase();
  }
};
} // namespace

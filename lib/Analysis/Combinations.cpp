// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/Combinations.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

std::optional<TypedAttr> ashlar::neutralOf(Operation *op) {
  if (!isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp,
           arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
           arith::MinNumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
           arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  return arith::getNeutralElement(op);
}

Value Combination::write(OpBuilder &b, Value before, Value own) const {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, operand == term ? own : before);
  return b.clone(*op, mapping)->getResult(0);
}

std::optional<Combination> ashlar::combinationOf(linalg::GenericOp op,
                                                 unsigned out) {
  SmallVector<Operation *, 4> chain;
  Value term = matchReduction(op.getRegionOutputArgs(), out, chain);
  if (!term || chain.size() != 1)
    return std::nullopt;
  std::optional<TypedAttr> neutral = neutralOf(chain[0]);
  if (!neutral)
    return std::nullopt;
  return Combination{term, chain[0], *neutral};
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/Combinations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

std::optional<TypedAttr> ashlar::neutralOf(Operation *op) {
  if (!isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp,
           arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
           arith::MinNumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
           arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  return arith::getNeutralElement(op);
}

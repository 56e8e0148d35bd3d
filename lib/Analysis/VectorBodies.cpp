// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/VectorBodies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

bool ashlar::runsOnVectors(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return true;
  return OpTrait::hasElementwiseMappableTraits(&op) &&
         !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
              arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
             op) &&
         llvm::all_of(op.getResultTypes(),
                      [](Type type) { return type.isIntOrFloat(); });
}

bool ashlar::runsOnVectors(Block &body) {
  return llvm::all_of(body.getArgumentTypes(),
                      [](Type type) {
                        return type.isIntOrFloat() && !type.isInteger(1);
                      }) &&
         llvm::all_of(body.without_terminator(),
                      [](Operation &op) { return runsOnVectors(op); });
}

bool ashlar::isLinear(AffineMap map) {
  bool linear = map.getNumSymbols() == 0;
  map.walkExprs([&](AffineExpr expr) {
    AffineExprKind kind = expr.getKind();
    linear &= kind != AffineExprKind::Mod && kind != AffineExprKind::FloorDiv &&
              kind != AffineExprKind::CeilDiv;
  });
  return linear;
}

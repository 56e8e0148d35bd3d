// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces functions of the math dialect by polynomials, in one walk: each is
// built from the table's function, in f32, where it stands.
#include "Functions.h"
#include "ashlar/Transforms/Approximate/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "ashlar/Transforms/Approximate/Passes.h.inc"
} // namespace ashlar

namespace {
using BuildFunction = Value (*)(FloatBuilder &, Value);

BuildFunction approximationOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, BuildFunction>(op)
      .Case([](math::ExpOp) { return buildExp; })
      .Case([](math::Exp2Op) { return buildExp2; })
      .Case([](math::ExpM1Op) { return buildExpM1; })
      .Case([](math::LogOp) { return buildLog; })
      .Case([](math::Log1pOp) { return buildLog1p; })
      .Case([](math::TanhOp) { return buildTanh; })
      .Case([](math::ErfOp) { return buildErf; })
      .Default([](Operation *) { return nullptr; });
}

Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.cloneWith(std::nullopt, element);
  return element;
}

struct ApproximateMathPass
    : ashlar::impl::ApproximateMathPassBase<ApproximateMathPass> {
  using ApproximateMathPassBase::ApproximateMathPassBase;

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (BuildFunction build = approximationOf(op))
        replace(op, build);
    });
  }

  void replace(Operation *op, BuildFunction build) {
    Type type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    bool isHalf = element.isF16() || element.isBF16();
    if (!isHalf && !element.isF32())
      return;
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type wide = withElement(type, b.getF32Type());
    Value x = op->getOperand(0);
    if (isHalf)
      x = arith::ExtFOp::create(b, loc, wide, x);
    FloatBuilder f(b, loc, wide, fma);
    Value result = build(f, x);
    if (isHalf)
      result = arith::TruncFOp::create(b, loc, type, result);
    op->replaceAllUsesWith(ValueRange(result));
    op->erase();
    ++numApproximated;
  }
};
} // namespace

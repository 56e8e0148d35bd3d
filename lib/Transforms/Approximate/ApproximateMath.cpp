// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces functions of the math dialect by polynomials, in one walk: each is
// built from the tables' function, in f32 or f64, where it stands.
#include "DoubleFunctions.h"
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

/// One of f64 and, where f32 is computed in f64, of that: with one operand or
/// two.
struct DoubleFunction {
  Value (*one)(DoubleBuilder &, Value) = nullptr;
  Value (*two)(DoubleBuilder &, Value, Value) = nullptr;
};

DoubleFunction ofSingles(Operation *op) {
  return llvm::TypeSwitch<Operation *, DoubleFunction>(op)
      .Case([](math::PowFOp) { return DoubleFunction{nullptr, buildPow}; })
      .Case([](math::Log2Op) { return DoubleFunction{buildLog2}; })
      .Case([](math::Log10Op) { return DoubleFunction{buildLog10}; })
      .Case([](math::SinOp) { return DoubleFunction{buildSin}; })
      .Case([](math::CosOp) { return DoubleFunction{buildCos}; })
      .Case([](math::TanOp) { return DoubleFunction{buildTan}; })
      .Case([](math::AsinOp) { return DoubleFunction{buildAsin}; })
      .Case([](math::AcosOp) { return DoubleFunction{buildAcos}; })
      .Case([](math::AtanOp) { return DoubleFunction{buildAtan}; })
      .Case([](math::Atan2Op) { return DoubleFunction{nullptr, buildAtan2}; })
      .Case([](math::SinhOp) { return DoubleFunction{buildSinh}; })
      .Case([](math::CoshOp) { return DoubleFunction{buildCosh}; })
      .Case([](math::AsinhOp) { return DoubleFunction{buildAsinh}; })
      .Case([](math::AcoshOp) { return DoubleFunction{buildAcosh}; })
      .Case([](math::AtanhOp) { return DoubleFunction{buildAtanh}; })
      .Case([](arith::RemFOp) { return DoubleFunction{nullptr, buildFmod}; })
      .Default([](Operation *) { return DoubleFunction{}; });
}

DoubleFunction ofDoubles(Operation *op) {
  return llvm::TypeSwitch<Operation *, DoubleFunction>(op)
      .Case([](math::ExpOp) { return DoubleFunction{buildExp64}; })
      .Case([](math::LogOp) { return DoubleFunction{buildLog64}; })
      .Default([](Operation *) { return DoubleFunction{}; });
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
      if (BuildFunction build = approximationOf(op); build && isSingle(op))
        replace(op, build);
      else if (!library)
        replaceInDoubles(op);
    });
  }

  /// Of f32 or less.
  static bool isSingle(Operation *op) {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    return element.isF32() || element.isF16() || element.isBF16();
  }

  void replaceInDoubles(Operation *op) {
    if (op->getNumResults() != 1)
      return;
    Type type = op->getResult(0).getType();
    bool single = isSingle(op);
    if (!single && !getElementTypeOrSelf(type).isF64())
      return;
    DoubleFunction build = single ? ofSingles(op) : ofDoubles(op);
    if (!build.one && !build.two)
      return;
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type singles = withElement(type, b.getF32Type());
    Type doubles = withElement(type, b.getF64Type());
    SmallVector<Value> operands;
    for (Value x : op->getOperands()) {
      if (single && type != singles)
        x = arith::ExtFOp::create(b, loc, singles, x);
      if (single)
        x = arith::ExtFOp::create(b, loc, doubles, x);
      operands.push_back(x);
    }
    DoubleBuilder f(b, loc, doubles);
    Value result = build.one ? build.one(f, operands[0])
                             : build.two(f, operands[0], operands[1]);
    if (single)
      result = arith::TruncFOp::create(b, loc, singles, result);
    if (single && type != singles)
      result = arith::TruncFOp::create(b, loc, type, result);
    finish(op, result);
  }

  void replace(Operation *op, BuildFunction build) {
    Type type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    bool isHalf = element.isF16() || element.isBF16();
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
    finish(op, result);
  }

  void finish(Operation *op, Value result) {
    op->replaceAllUsesWith(ValueRange(result));
    op->erase();
    ++numApproximated;
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_WIDENHALVESPASS
#include "ashlar/Targets/CPU/Passes.h.inc"
} // namespace ashlar

/// The type with another element.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.cloneWith(std::nullopt, element);
  return element;
}

static bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return (isa<VectorType>(type) || type == element) &&
         (element.isF16() || element.isBF16());
}

static bool computesInHalves(Operation *op) {
  if (isa<arith::ConstantOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp,
          arith::SelectOp>(op))
    return false;
  bool computes =
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<vector::ReductionOp, vector::MultiDimReductionOp, vector::FMAOp,
          vector::ContractionOp, vector::OuterProductOp>(op);
  return computes && (llvm::any_of(op->getOperandTypes(), isHalf) ||
                      llvm::any_of(op->getResultTypes(), isHalf));
}

static void widen(Operation *op) {
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    if (isHalf(type))
      operand.set(arith::ExtFOp::create(
          b, op->getLoc(), withElement(type, b.getF32Type()), operand.get()));
  }
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type type = result.getType();
    if (!isHalf(type))
      continue;
    result.setType(withElement(type, b.getF32Type()));
    auto rounded = arith::TruncFOp::create(b, op->getLoc(), type, result);
    result.replaceAllUsesExcept(rounded, rounded);
  }
}

namespace {
/// Arithmetic on the bits of scalars or vectors, all of one shape.
class BitBuilder {
public:
  BitBuilder(Operation *op, Type like) : b(op->getLoc(), op), like(like) {}

  Type i16() { return withElement(like, b.getI16Type()); }
  Type i32() { return withElement(like, b.getI32Type()); }
  Type f32() { return withElement(like, b.getF32Type()); }

  Value bits(uint32_t number) {
    return arith::ConstantOp::create(
        b, splat(i32(), b.getI32IntegerAttr(int32_t(number))));
  }
  Value number(float number) {
    return arith::ConstantOp::create(b,
                                     splat(f32(), b.getF32FloatAttr(number)));
  }
  Value both(Value x, uint32_t mask) {
    return arith::AndIOp::create(b, x, bits(mask));
  }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value left(Value x, unsigned by) {
    return arith::ShLIOp::create(b, x, bits(by));
  }
  Value right(Value x, unsigned by) {
    return arith::ShRUIOp::create(b, x, bits(by));
  }
  Value cast(Type type, Value x) {
    return arith::BitcastOp::create(b, type, x);
  }
  /// `yes` where x is at least `least`, as unsigned integers.
  Value atLeast(Value x, uint32_t least, Value yes, Value no) {
    Value is =
        arith::CmpIOp::create(b, arith::CmpIPredicate::uge, x, bits(least));
    return arith::SelectOp::create(b, is, yes, no);
  }

  ImplicitLocOpBuilder b;

private:
  static TypedAttr splat(Type type, Attribute element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return DenseElementsAttr::get(vector, element);
    return llvm::cast<TypedAttr>(element);
  }

  Type like;
};
} // namespace

/// The f32 between which and the f64 given no half lies: cut off towards zero,
/// its last bit set where something was cut off. What is rounded from there has
/// been rounded once.
static Value cutToF32(arith::TruncFOp op) {
  Type wide = op.getIn().getType();
  BitBuilder b(op, wide);
  Value near = arith::TruncFOp::create(b.b, b.f32(), op.getIn());
  Value back = arith::ExtFOp::create(b.b, wide, near);
  Value isLarger = arith::CmpFOp::create(b.b, arith::CmpFPredicate::OGT,
                                         math::AbsFOp::create(b.b, back),
                                         math::AbsFOp::create(b.b, op.getIn()));
  Value isInexact =
      arith::CmpFOp::create(b.b, arith::CmpFPredicate::ONE, back, op.getIn());
  Value all = b.cast(b.i32(), near);
  all = arith::SelectOp::create(
      b.b, isLarger, arith::SubIOp::create(b.b, all, b.bits(1)), all);
  all = arith::SelectOp::create(b.b, isInexact, b.either(all, b.bits(1)), all);
  return b.cast(b.f32(), all);
}

/// With an exponent of 112 less than it should have, a half is a float whose
/// value a multiplication corrects, denormals too.
static Value extendF16(arith::ExtFOp op) {
  BitBuilder b(op, op.getIn().getType());
  Value half =
      arith::ExtUIOp::create(b.b, b.i32(), b.cast(b.i16(), op.getIn()));
  Value sign = b.left(b.both(half, 0x8000), 16);
  Value rest = b.both(half, 0x7fff);
  Value small = b.cast(b.f32(), b.left(rest, 13));
  Value finite =
      b.cast(b.i32(), arith::MulFOp::create(b.b, small, b.number(0x1p112f)));
  Value special = b.either(b.left(rest, 13), b.bits(0x7f800000));
  Value magnitude = b.atLeast(rest, 0x7c00, special, finite);
  return b.cast(b.f32(), b.either(magnitude, sign));
}

/// To nearest, ties to even. Denormal halves are what adding 0.5 leaves in the
/// last bits of a float: its unit in the last place is theirs.
static Value truncateToF16(arith::TruncFOp op) {
  BitBuilder b(op, op.getIn().getType());
  Value all = b.cast(b.i32(), op.getIn());
  Value sign = b.right(b.both(all, 0x80000000), 16);
  Value rest = b.both(all, 0x7fffffff);
  Value half = b.number(0.5f);
  Value shifted = arith::AddFOp::create(b.b, b.cast(b.f32(), rest), half);
  Value denormal = arith::SubIOp::create(b.b, b.cast(b.i32(), shifted),
                                         b.cast(b.i32(), half));
  // The exponent's bias is another; what is cut off carries into the rest.
  Value odd = b.both(b.right(rest, 13), 1);
  Value normal = b.right(b.add(b.add(rest, b.bits(0xc8000fff)), odd), 13);
  Value magnitude = b.atLeast(rest, 0x38800000, normal, denormal);
  magnitude = b.atLeast(rest, 0x477ff000, b.bits(0x7c00), magnitude);
  magnitude = b.atLeast(rest, 0x7f800001, b.bits(0x7e00), magnitude);
  Value narrow =
      arith::TruncIOp::create(b.b, b.i16(), b.either(magnitude, sign));
  return b.cast(op.getType(), narrow);
}

namespace {
struct WidenHalves : ashlar::impl::WidenHalvesPassBase<WidenHalves> {
  using WidenHalvesPassBase::WidenHalvesPassBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (computesInHalves(op))
        widen(op);
    });
    getOperation().walk([](arith::TruncFOp op) {
      if (isHalf(op.getType()) && getElementTypeOrSelf(op.getIn()).isF64())
        op.getInMutable().assign(cutToF32(op));
    });
    if (!convertsF16)
      getOperation().walk([](Operation *op) { expand(op); });
  }

  static void expand(Operation *op) {
    Value result;
    if (auto extend = dyn_cast<arith::ExtFOp>(op)) {
      if (getElementTypeOrSelf(extend.getIn()).isF16()) {
        // All halves are floats, so f64 is reached by way of them.
        result = extendF16(extend);
        OpBuilder b(op);
        if (result.getType() != extend.getType())
          result =
              arith::ExtFOp::create(b, op->getLoc(), extend.getType(), result);
      }
    } else if (auto truncate = dyn_cast<arith::TruncFOp>(op)) {
      if (getElementTypeOrSelf(truncate.getType()).isF16() &&
          getElementTypeOrSelf(truncate.getIn()).isF32())
        result = truncateToF16(truncate);
    }
    if (!result)
      return;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes f32 or f64 arithmetic on one shape, a scalar's or a vector's, and
// arithmetic of integers as wide beside it.
//
//   Value r = f.fma(n, f.constant(-ln2), x);       // x - n ln 2
//   Value p = f.polynomial(r, {c0, c1, c2});       // c0 + c1 r + c2 r^2
#ifndef ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FLOATBUILDER_H
#define ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

/// `Float`: float or double.
template <typename Float> class BasicFloatBuilder {
public:
  using Int = std::conditional_t<sizeof(Float) == 4, int32_t, int64_t>;
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpFPredicate;
  using IntPredicate = mlir::arith::CmpIPredicate;

  /// `type`: the float's or a vector of it. `fused`: fma() rounds once.
  BasicFloatBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                    bool fused = true);

  Value constant(Float value);
  Value infinity();
  Value nan();
  Value add(Value x, Value y) { return make<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<mlir::arith::DivFOp>(x, y); }
  Value neg(Value x) { return make<mlir::arith::NegFOp>(x); }
  Value abs(Value x) { return make<mlir::math::AbsFOp>(x); }
  Value sqrt(Value x) { return make<mlir::math::SqrtOp>(x); }
  Value round(Value x) { return make<mlir::math::RoundEvenOp>(x); }
  /// x y + z
  Value fma(Value x, Value y, Value z);
  Value scale(Value x, Float by) { return mul(x, constant(by)); }
  Value copySign(Value x, Value sign) {
    return make<mlir::math::CopySignOp>(x, sign);
  }
  /// coefficients[0] + coefficients[1] x + coefficients[2] x^2 ...
  Value polynomial(Value x, llvm::ArrayRef<Float> coefficients);

  Value compare(Predicate predicate, Value x, Value y) {
    return make<mlir::arith::CmpFOp>(predicate, x, y);
  }
  Value compare(Predicate predicate, Value x, Float y) {
    return compare(predicate, x, constant(y));
  }
  Value select(Value condition, Value x, Value y) {
    return make<mlir::arith::SelectOp>(condition, x, y);
  }
  Value select(Value condition, Float x, Float y) {
    return select(condition, constant(x), constant(y));
  }
  /// The nearest number in a range. NaN stays NaN.
  Value atLeast(Value x, Float low) {
    return select(compare(Predicate::OLT, x, low), constant(low), x);
  }
  Value atMost(Value x, Float high) {
    return select(compare(Predicate::OGT, x, high), constant(high), x);
  }
  /// The sign's bit is set, that of a zero or a NaN too.
  Value isNegative(Value x);

  Value integer(Int value);
  Value bits(Value x);      ///< of a float
  Value fromBits(Value x);  ///< the float that has them
  Value toFloat(Value x);   ///< an integer's value
  Value toInteger(Value x); ///< a whole number's
  Value addInt(Value x, Value y) { return make<mlir::arith::AddIOp>(x, y); }
  Value subInt(Value x, Value y) { return make<mlir::arith::SubIOp>(x, y); }
  Value mulInt(Value x, Value y) { return make<mlir::arith::MulIOp>(x, y); }
  Value remainder(Value x, Value y) { ///< without signs
    return make<mlir::arith::RemUIOp>(x, y);
  }
  /// Of two integers or of two conditions.
  Value bitAnd(Value x, Value y) { return make<mlir::arith::AndIOp>(x, y); }
  Value bitOr(Value x, Value y) { return make<mlir::arith::OrIOp>(x, y); }
  Value shiftLeft(Value x, Value by) {
    return make<mlir::arith::ShLIOp>(x, by);
  }
  Value shiftRight(Value x, Value by) { ///< zeros come in
    return make<mlir::arith::ShRUIOp>(x, by);
  }
  Value shiftSigned(Value x, Value by) { ///< copies of the sign come in
    return make<mlir::arith::ShRSIOp>(x, by);
  }
  Value compareInt(IntPredicate predicate, Value x, Value y) {
    return make<mlir::arith::CmpIOp>(predicate, x, y);
  }
  Value addInt(Value x, Int y) { return addInt(x, integer(y)); }
  Value bitAnd(Value x, Int y) { return bitAnd(x, integer(y)); }
  Value shiftLeft(Value x, Int by) { return shiftLeft(x, integer(by)); }
  Value shiftRight(Value x, Int by) { return shiftRight(x, integer(by)); }
  Value shiftSigned(Value x, Int by) { return shiftSigned(x, integer(by)); }
  Value compareInt(IntPredicate predicate, Value x, Int y) {
    return compareInt(predicate, x, integer(y));
  }

private:
  template <typename Op, typename... Arguments>
  Value make(Arguments... arguments) {
    return Op::create(b, arguments...);
  }

  mlir::ImplicitLocOpBuilder b;
  mlir::Type type, integerType;
  bool fused;
};

using FloatBuilder = BasicFloatBuilder<float>;
using DoubleBuilder = BasicFloatBuilder<double>;

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FLOATBUILDER_H

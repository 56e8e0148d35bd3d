// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes f64 arithmetic on one shape, a scalar's or a vector's, and arithmetic
// of 64-bit integers beside it. fma() is an instruction wherever this is used.
#ifndef ASHLAR_LIB_TRANSFORMS_APPROXIMATE_DOUBLEBUILDER_H
#define ASHLAR_LIB_TRANSFORMS_APPROXIMATE_DOUBLEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

class DoubleBuilder {
public:
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpFPredicate;
  using IntPredicate = mlir::arith::CmpIPredicate;

  /// `type`: f64 or a vector of f64.
  DoubleBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

  Value constant(double value);
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
  Value fma(Value x, Value y, Value z) {
    return make<mlir::math::FmaOp>(x, y, z);
  }
  Value scale(Value x, double by) { return mul(x, constant(by)); }
  Value copySign(Value x, Value sign) {
    return make<mlir::math::CopySignOp>(x, sign);
  }
  /// coefficients[0] + coefficients[1] x + coefficients[2] x^2 ...
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients);

  Value compare(Predicate predicate, Value x, Value y) {
    return make<mlir::arith::CmpFOp>(predicate, x, y);
  }
  Value compare(Predicate predicate, Value x, double y) {
    return compare(predicate, x, constant(y));
  }
  Value select(Value condition, Value x, Value y) {
    return make<mlir::arith::SelectOp>(condition, x, y);
  }
  /// The nearest number in a range. NaN stays NaN.
  Value atLeast(Value x, double low) {
    return select(compare(Predicate::OLT, x, low), constant(low), x);
  }
  Value atMost(Value x, double high) {
    return select(compare(Predicate::OGT, x, high), constant(high), x);
  }
  /// The sign's bit is set, that of a zero or a NaN too.
  Value isNegative(Value x);

  Value integer(int64_t value);
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
  Value addInt(Value x, int64_t y) { return addInt(x, integer(y)); }
  Value bitAnd(Value x, int64_t y) { return bitAnd(x, integer(y)); }
  Value shiftLeft(Value x, int64_t by) { return shiftLeft(x, integer(by)); }
  Value shiftRight(Value x, int64_t by) { return shiftRight(x, integer(by)); }
  Value shiftSigned(Value x, int64_t by) { return shiftSigned(x, integer(by)); }
  Value compareInt(IntPredicate predicate, Value x, int64_t y) {
    return compareInt(predicate, x, integer(y));
  }

private:
  template <typename Op, typename... Arguments>
  Value make(Arguments... arguments) {
    return Op::create(b, arguments...);
  }

  mlir::ImplicitLocOpBuilder b;
  mlir::Type type, integerType;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_APPROXIMATE_DOUBLEBUILDER_H

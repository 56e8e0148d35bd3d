// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes f32 arithmetic on one shape, a scalar's or a vector's, and integer
// arithmetic on the same bits.
//
//   Value r = f.fma(n, f.constant(-ln2), x);       // x - n ln 2
//   Value p = f.polynomial(r, {c0, c1, c2});       // c0 + c1 r + c2 r^2
#ifndef ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FLOATBUILDER_H
#define ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

class FloatBuilder {
public:
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpFPredicate;

  /// `type`: f32 or a vector of f32. `fused`: fma() rounds once.
  FloatBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
               bool fused);

  Value constant(float value);
  Value integer(int32_t value);

  Value add(Value x, Value y) { return make<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<mlir::arith::DivFOp>(x, y); }
  Value neg(Value x) { return make<mlir::arith::NegFOp>(x); }
  Value abs(Value x) { return make<mlir::math::AbsFOp>(x); }
  Value copySign(Value x, Value sign) {
    return make<mlir::math::CopySignOp>(x, sign);
  }
  /// x y + z
  Value fma(Value x, Value y, Value z);
  /// coefficients[0] + coefficients[1] x + coefficients[2] x^2 ...
  Value polynomial(Value x, llvm::ArrayRef<float> coefficients);

  Value compare(Predicate predicate, Value x, float y) {
    return make<mlir::arith::CmpFOp>(predicate, x, constant(y));
  }
  Value select(Value condition, Value x, Value y) {
    return make<mlir::arith::SelectOp>(condition, x, y);
  }
  Value select(Value condition, float x, float y) {
    return select(condition, constant(x), constant(y));
  }
  /// The nearest number in a range. NaN stays NaN.
  Value atLeast(Value x, float low) {
    return select(compare(Predicate::OLT, x, low), constant(low), x);
  }
  Value atMost(Value x, float high) {
    return select(compare(Predicate::OGT, x, high), constant(high), x);
  }
  /// The sign's bit is set, that of a zero or a NaN too.
  Value isNegative(Value x);

  Value bits(Value x);     ///< of a float
  Value fromBits(Value x); ///< the float that has them
  Value toFloat(Value x);  ///< an integer's value
  Value shiftLeft(Value x, int32_t by);
  Value shiftRight(Value x, int32_t by); ///< with copies of the sign
  Value addInt(Value x, int32_t y);
  Value subInt(Value x, Value y) { return make<mlir::arith::SubIOp>(x, y); }
  Value bitAnd(Value x, int32_t y);

private:
  template <typename Op, typename... Arguments>
  Value make(Arguments... arguments) {
    return Op::create(b, arguments...);
  }

  mlir::ImplicitLocOpBuilder b;
  mlir::Type type, integerType;
  bool fused;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FLOATBUILDER_H

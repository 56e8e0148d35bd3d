// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Quantization.h"
#include "ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

Value ashlar::onnx_import::roundToQuantized(OpBuilder &b, Location loc,
                                            Value scaled, Value zeroPoint,
                                            ElementType to) {
  Type target = convertElementType(b.getContext(), to);
  unsigned width =
      isSmallInteger(to) ? packedBits(to) : target.getIntOrFloatBitWidth();
  assert(width <= 16 && "wider bounds are not exact in f32");
  FloatScalars s(b, loc, scaled.getType());
  Value x = s.make<math::RoundEvenOp>(scaled);
  if (zeroPoint) {
    Value offset =
        isUnsigned(to)
            ? arith::UIToFPOp::create(b, loc, s.type, zeroPoint).getResult()
            : arith::SIToFPOp::create(b, loc, s.type, zeroPoint).getResult();
    x = s.add(x, offset);
  }
  double low = isUnsigned(to) ? 0 : -std::ldexp(1.0, width - 1);
  double high = std::ldexp(1.0, isUnsigned(to) ? width : width - 1) - 1;
  // These bound NaN as well: converting it would be poison.
  x = s.make<arith::MaxNumFOp>(x, s.constant(low));
  x = s.make<arith::MinNumFOp>(x, s.constant(high));
  // A wider integer first: narrow conversions of unsigned numbers are slow.
  Value wide = arith::FPToSIOp::create(b, loc, b.getI32Type(), x);
  return arith::TruncIOp::create(b, loc, target, wide);
}

DynamicCodes ashlar::onnx_import::quantizeDynamically(ImplicitLocOpBuilder &b,
                                                      Value x) {
  Type f32 = b.getF32Type(), i8 = b.getI8Type();
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  auto extreme = [&](bool isMax) {
    return reduce(b, x, llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                  /*keepDims=*/false, zeroOf(f32),
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    FloatScalars s(b, loc, f32);
                    return isMax ? s.max(args[0], args[1])
                                 : s.min(args[0], args[1]);
                  });
  };
  Value low = extreme(false), high = extreme(true);
  Value scale = floatElementwise(
      b, {low, high}, f32, [](FloatScalars &s, ValueRange args) {
        Value range = s.sub(args[1], args[0]);
        Value isZero =
            s.compare(FloatScalars::Predicate::OEQ, range, s.constant(0));
        // The definition divides by zero then; any scale gives zeros.
        return s.select(isZero, s.constant(1), s.div(range, s.constant(255)));
      });
  Value zero = elementwise(
      b, i8, {low, scale}, [&](OpBuilder &b, Location loc, ValueRange args) {
        FloatScalars s(b, loc, f32);
        return roundToQuantized(b, loc, s.neg(s.div(args[0], args[1])), Value(),
                                ElementType::U8);
      });
  Value codes = elementwise(
      b, i8, {x, scale, zero},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value scaled = arith::DivFOp::create(b, loc, args[0], args[1]);
        return roundToQuantized(b, loc, scaled, args[2], ElementType::U8);
      });
  return {codes, scale, zero};
}

Value ashlar::onnx_import::sumCodes(ImplicitLocOpBuilder &b, Value codes,
                                    int64_t axis, bool keepDims,
                                    ElementType type) {
  return reduce(b, codes, axis, keepDims, zeroOf(b.getI32Type()),
                [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                  Value wide =
                      castScalar(b, loc, args[0], type, ElementType::I32);
                  return arith::AddIOp::create(b, loc, args[1], wide);
                });
}

Value ashlar::onnx_import::subtractZeros(ImplicitLocOpBuilder &b, Value product,
                                         const FactorZero &lhs,
                                         const FactorZero &rhs, int64_t depth) {
  SmallVector<Value> inputs{product};
  for (const FactorZero *factor : {&lhs, &rhs})
    if (factor->zero)
      inputs.append({factor->zero, factor->otherSums});
  if (inputs.size() == 1)
    return product;
  Type i32 = b.getI32Type();
  return elementwise(
      b, i32, inputs, [&](OpBuilder &b, Location loc, ValueRange args) {
        Value result = args[0];
        auto subtract = [&](const FactorZero &factor, Value zero, Value sums) {
          zero = castScalar(b, loc, zero, factor.type, ElementType::I32);
          Value product = arith::MulIOp::create(b, loc, zero, sums);
          result = arith::SubIOp::create(b, loc, result, product);
          return zero;
        };
        Value lhsZero, rhsZero;
        if (lhs.zero)
          lhsZero = subtract(lhs, args[1], args[2]);
        if (rhs.zero)
          rhsZero = subtract(rhs, args[args.size() - 2], args.back());
        if (lhsZero && rhsZero) {
          Value both = arith::MulIOp::create(b, loc, lhsZero, rhsZero);
          Value k = scalarIntConstant(b, loc, i32, depth);
          result = arith::AddIOp::create(
              b, loc, result, arith::MulIOp::create(b, loc, both, k));
        }
        return result;
      });
}

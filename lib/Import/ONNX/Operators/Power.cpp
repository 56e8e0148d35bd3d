// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pow, whose exponent may have another type than its base. The result has the
// type of the base.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// x^n for a small whole n by multiplication.
static Value repeatedProduct(OpBuilder &b, Location loc, Value x, int64_t n) {
  Value product = x;
  for (int64_t i = 1; i < n; ++i)
    product = scalarMul(b, loc, product, x);
  return product;
}

/// x^n for the exponents that models have most; null for others.
static Value constantPower(FloatScalars &s, Value x, double exponent) {
  if (exponent == 1 || exponent == 2 || exponent == 3)
    return repeatedProduct(s.b, s.loc, x, exponent);
  if (exponent == 0)
    return s.constant(1);
  if (exponent == -1)
    return s.div(s.constant(1), x);
  if (exponent != 0.5)
    return {};
  // Differs from the square root at minus infinity only.
  Value isLowest = s.compare(FloatScalars::Predicate::OEQ, x, s.infinity(true));
  return s.select(isLowest, s.infinity(), s.sqrt(x));
}

/// Powers of integers that wrap: by squaring, one step for each bit of the
/// exponent. A negative exponent gives the power rounded to zero.
static Value integerPower(OpBuilder &b, Location loc, Value x, Value n,
                          bool exponentUnsigned) {
  Type type = x.getType(), exponentType = n.getType();
  auto constant = [&](int64_t value) {
    return scalarIntConstant(b, loc, type, value);
  };
  auto isEqual = [&](Value value, int64_t other) -> Value {
    Value constant = scalarIntConstant(b, loc, value.getType(), other);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                                 constant);
  };
  unsigned width = exponentType.getIntOrFloatBitWidth();
  Value result = constant(1), square = x;
  for (unsigned bit = 0; bit != width; ++bit) {
    Value amount = scalarIntConstant(b, loc, exponentType, bit);
    Value shifted = arith::ShRUIOp::create(b, loc, n, amount);
    Value isSet = arith::TruncIOp::create(b, loc, b.getI1Type(), shifted);
    Value product = arith::MulIOp::create(b, loc, result, square);
    result = arith::SelectOp::create(b, loc, isSet, product, result);
    if (bit + 1 != width)
      square = arith::MulIOp::create(b, loc, square, square);
  }
  if (exponentUnsigned)
    return result;
  // One and minus one have the right power already: their order is even.
  Value isUnit = arith::OrIOp::create(b, loc, isEqual(x, 1), isEqual(x, -1));
  Value zero = scalarIntConstant(b, loc, exponentType, 0);
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, n, zero);
  Value power = arith::SelectOp::create(b, loc, isUnit, result, constant(0));
  return arith::SelectOp::create(b, loc, isNegative, power, result);
}

static LogicalResult importPow(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> shape = expectBroadcast(node, {0, 1});
  if (failed(shape))
    return failure();
  ElementType base = node.operandType(0), exponent = node.operandType(1);
  Type element = node.tensorType(0).getElementType();
  auto constant = dyn_cast_or_null<FloatAttr>(constantScalar(node, 1));
  bool keepsShape = shape->size() == size_t(node.rank(0));
  Value result;
  if (isFloat(base) && constant && keepsShape) {
    double value = constant.getValueAsDouble();
    result = floatElementwise(
        node.b, {node.operand(0)}, element,
        [&](FloatScalars &s, ValueRange args) {
          if (Value power = constantPower(s, args[0], value))
            return power;
          return s.make<math::PowFOp>(args[0], s.constant(value));
        });
  } else if (isFloat(base) || isFloat(exponent)) {
    // Integers to a power that is a float, too, are computed as floats.
    ElementType wide = isFloat(base) ? computeType(base) : ElementType::F64;
    result = elementwise(node.b, element, {node.operand(0), node.operand(1)},
                         [&](OpBuilder &b, Location loc, ValueRange args) {
                           Value x = castScalar(b, loc, args[0], base, wide);
                           Value n =
                               castScalar(b, loc, args[1], exponent, wide);
                           Value power = math::PowFOp::create(b, loc, x, n);
                           return castScalar(b, loc, power, wide, base);
                         });
  } else {
    result = elementwise(node.b, element, {node.operand(0), node.operand(1)},
                         [&](OpBuilder &b, Location loc, ValueRange args) {
                           return integerPower(b, loc, args[0], args[1],
                                               isUnsigned(exponent));
                         });
  }
  node.setResult(0, result, base);
  return success();
}

void ashlar::onnx_import::registerPowerOperators(OperatorRegistry &registry) {
  registry.add("Pow", 7, importPow);
}

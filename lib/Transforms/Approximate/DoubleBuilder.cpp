// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DoubleBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace ashlar;

/// The attribute in each element.
static TypedAttr splat(Type type, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, Attribute(scalar));
  return scalar;
}

DoubleBuilder::DoubleBuilder(OpBuilder &builder, Location loc, Type type)
    : b(loc, builder), type(type), integerType(builder.getI64Type()) {
  assert(getElementTypeOrSelf(type).isF64() && "computes in f64 only");
  if (auto vector = dyn_cast<VectorType>(type))
    integerType = vector.cloneWith(std::nullopt, integerType);
}

Value DoubleBuilder::constant(double value) {
  return make<arith::ConstantOp>(splat(type, b.getF64FloatAttr(value)));
}

Value DoubleBuilder::infinity() {
  return constant(std::numeric_limits<double>::infinity());
}

Value DoubleBuilder::nan() {
  return constant(std::numeric_limits<double>::quiet_NaN());
}

Value DoubleBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value result = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, constant(coefficient));
  return result;
}

Value DoubleBuilder::isNegative(Value x) {
  return compareInt(IntPredicate::slt, bits(x), 0);
}

Value DoubleBuilder::integer(int64_t value) {
  return make<arith::ConstantOp>(
      splat(integerType, b.getI64IntegerAttr(value)));
}

Value DoubleBuilder::bits(Value x) {
  return make<arith::BitcastOp>(integerType, x);
}

Value DoubleBuilder::fromBits(Value x) {
  return make<arith::BitcastOp>(type, x);
}

Value DoubleBuilder::toFloat(Value x) { return make<arith::SIToFPOp>(type, x); }

Value DoubleBuilder::toInteger(Value x) {
  return make<arith::FPToSIOp>(integerType, x);
}

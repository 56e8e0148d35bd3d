// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FloatBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ashlar;

/// `element` in the shape of `like`.
static Type sameShape(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.cloneWith(std::nullopt, element);
  return element;
}

/// The attribute in each element.
static TypedAttr splat(Type type, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, Attribute(scalar));
  return scalar;
}

FloatBuilder::FloatBuilder(OpBuilder &builder, Location loc, Type type,
                           bool fused)
    : b(loc, builder), type(type),
      integerType(sameShape(type, builder.getI32Type())), fused(fused) {
  assert(getElementTypeOrSelf(type).isF32() && "computes in f32 only");
}

Value FloatBuilder::constant(float value) {
  return make<arith::ConstantOp>(splat(type, b.getF32FloatAttr(value)));
}

Value FloatBuilder::integer(int32_t value) {
  return make<arith::ConstantOp>(
      splat(integerType, b.getI32IntegerAttr(value)));
}

Value FloatBuilder::fma(Value x, Value y, Value z) {
  if (fused)
    return make<math::FmaOp>(x, y, z);
  return add(mul(x, y), z);
}

Value FloatBuilder::polynomial(Value x, ArrayRef<float> coefficients) {
  Value result = constant(coefficients.back());
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, constant(coefficient));
  return result;
}

Value FloatBuilder::isNegative(Value x) {
  return make<arith::CmpIOp>(arith::CmpIPredicate::slt, bits(x), integer(0));
}

Value FloatBuilder::bits(Value x) {
  return make<arith::BitcastOp>(integerType, x);
}

Value FloatBuilder::fromBits(Value x) {
  return make<arith::BitcastOp>(type, x);
}

Value FloatBuilder::toFloat(Value x) { return make<arith::SIToFPOp>(type, x); }

Value FloatBuilder::shiftLeft(Value x, int32_t by) {
  return make<arith::ShLIOp>(x, integer(by));
}

Value FloatBuilder::shiftRight(Value x, int32_t by) {
  return make<arith::ShRSIOp>(x, integer(by));
}

Value FloatBuilder::addInt(Value x, int32_t y) {
  return make<arith::AddIOp>(x, integer(y));
}

Value FloatBuilder::bitAnd(Value x, int32_t y) {
  return make<arith::AndIOp>(x, integer(y));
}

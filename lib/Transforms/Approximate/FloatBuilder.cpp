// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FloatBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

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

template <typename Float>
BasicFloatBuilder<Float>::BasicFloatBuilder(OpBuilder &builder, Location loc,
                                            Type type, bool fused)
    : b(loc, builder), type(type),
      integerType(sameShape(type, builder.getIntegerType(8 * sizeof(Float)))),
      fused(fused) {
  assert(getElementTypeOrSelf(type).isFloat(8 * sizeof(Float)) &&
         "computes in its own type only");
}

template <typename Float>
Value BasicFloatBuilder<Float>::constant(Float value) {
  return make<arith::ConstantOp>(
      splat(type, b.getFloatAttr(getElementTypeOrSelf(type), value)));
}

template <typename Float> Value BasicFloatBuilder<Float>::infinity() {
  return constant(std::numeric_limits<Float>::infinity());
}

template <typename Float> Value BasicFloatBuilder<Float>::nan() {
  return constant(std::numeric_limits<Float>::quiet_NaN());
}

template <typename Float>
Value BasicFloatBuilder<Float>::fma(Value x, Value y, Value z) {
  if (fused)
    return make<math::FmaOp>(x, y, z);
  return add(mul(x, y), z);
}

template <typename Float>
Value BasicFloatBuilder<Float>::polynomial(Value x,
                                           ArrayRef<Float> coefficients) {
  Value result = constant(coefficients.back());
  for (Float coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, constant(coefficient));
  return result;
}

template <typename Float> Value BasicFloatBuilder<Float>::isNegative(Value x) {
  return compareInt(IntPredicate::slt, bits(x), Int(0));
}

template <typename Float> Value BasicFloatBuilder<Float>::integer(Int value) {
  return make<arith::ConstantOp>(splat(
      integerType, b.getIntegerAttr(getElementTypeOrSelf(integerType), value)));
}

template <typename Float> Value BasicFloatBuilder<Float>::bits(Value x) {
  return make<arith::BitcastOp>(integerType, x);
}

template <typename Float> Value BasicFloatBuilder<Float>::fromBits(Value x) {
  return make<arith::BitcastOp>(type, x);
}

template <typename Float> Value BasicFloatBuilder<Float>::toFloat(Value x) {
  return make<arith::SIToFPOp>(type, x);
}

template <typename Float> Value BasicFloatBuilder<Float>::toInteger(Value x) {
  return make<arith::FPToSIOp>(integerType, x);
}

template class ashlar::BasicFloatBuilder<float>;
template class ashlar::BasicFloatBuilder<double>;

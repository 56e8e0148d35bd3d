// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

Type ashlar::onnx_import::computeType(Type type) {
  return type.isF16() || type.isBF16() ? Float32Type::get(type.getContext())
                                       : type;
}

ElementType ashlar::onnx_import::computeType(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16
             ? ElementType::F32
             : type;
}

Value ashlar::onnx_import::resizeFloat(OpBuilder &b, Location loc, Value scalar,
                                       Type type) {
  unsigned from = scalar.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (scalar.getType() == type)
    return scalar;
  if (to > from)
    return arith::ExtFOp::create(b, loc, type, scalar);
  if (to == from) // f16 and bf16 meet in f32.
    scalar = arith::ExtFOp::create(b, loc, b.getF32Type(), scalar);
  return arith::TruncFOp::create(b, loc, type, scalar);
}

Value ashlar::onnx_import::roundTo(OpBuilder &b, Location loc, Value scalar,
                                   Type type) {
  Type wide = scalar.getType();
  return resizeFloat(b, loc, resizeFloat(b, loc, scalar, type), wide);
}

Value FloatScalars::infinity(bool negative) {
  return make<arith::ConstantOp>(negative ? lowestOf(type, false)
                                          : highestOf(type, false));
}

Value ashlar::onnx_import::floatElementwise(ImplicitLocOpBuilder &b,
                                            ValueRange inputs, Type result,
                                            FloatBody body) {
  return elementwise(b, result, inputs,
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       FloatScalars scalars(b, loc, computeType(result));
                       SmallVector<Value> wide;
                       for (Value arg : args)
                         wide.push_back(resizeFloat(b, loc, arg, scalars.type));
                       return resizeFloat(b, loc, body(scalars, wide), result);
                     });
}

static Value equals(OpBuilder &b, Location loc, Value x, int64_t value) {
  Value constant = scalarIntConstant(b, loc, x.getType(), value);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, constant);
}

Value ashlar::onnx_import::divideIntegers(OpBuilder &b, Location loc,
                                          bool isUnsigned, Value x, Value y) {
  Value zero = scalarIntConstant(b, loc, y.getType(), 0);
  Value one = scalarIntConstant(b, loc, y.getType(), 1);
  Value byZero = equals(b, loc, y, 0);
  if (isUnsigned) {
    Value safe = arith::SelectOp::create(b, loc, byZero, one, y);
    Value quotient = arith::DivUIOp::create(b, loc, x, safe);
    return arith::SelectOp::create(b, loc, byZero, zero, quotient);
  }
  // The lowest value by -1 overflows; negation wraps.
  Value byMinusOne = equals(b, loc, y, -1);
  Value special = arith::OrIOp::create(b, loc, byZero, byMinusOne);
  Value safe = arith::SelectOp::create(b, loc, special, one, y);
  Value quotient = arith::DivSIOp::create(b, loc, x, safe);
  Value negated = arith::SubIOp::create(b, loc, zero, x);
  quotient = arith::SelectOp::create(b, loc, byMinusOne, negated, quotient);
  return arith::SelectOp::create(b, loc, byZero, zero, quotient);
}

Value ashlar::onnx_import::integerRemainder(OpBuilder &b, Location loc,
                                            bool isUnsigned, Value x, Value y) {
  Value one = scalarIntConstant(b, loc, y.getType(), 1);
  Value special = equals(b, loc, y, 0);
  if (!isUnsigned) {
    Value byMinusOne = equals(b, loc, y, -1);
    special = arith::OrIOp::create(b, loc, special, byMinusOne);
  }
  // The remainder by one is the zero that is wanted.
  Value safe = arith::SelectOp::create(b, loc, special, one, y);
  return isUnsigned ? arith::RemUIOp::create(b, loc, x, safe).getResult()
                    : arith::RemSIOp::create(b, loc, x, safe).getResult();
}

Value ashlar::onnx_import::scalarLess(OpBuilder &b, Location loc,
                                      ElementType type, Value x, Value y) {
  if (isFloat(type))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  bool asUnsigned = isUnsigned(type) || type == ElementType::Bool;
  return arith::CmpIOp::create(
      b, loc,
      asUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x, y);
}

Value ashlar::onnx_import::scalarMax(OpBuilder &b, Location loc,
                                     ElementType type, Value x, Value y) {
  if (isFloat(type))
    return arith::MaximumFOp::create(b, loc, x, y);
  if (isUnsigned(type) || type == ElementType::Bool)
    return arith::MaxUIOp::create(b, loc, x, y);
  return arith::MaxSIOp::create(b, loc, x, y);
}

Value ashlar::onnx_import::scalarMin(OpBuilder &b, Location loc,
                                     ElementType type, Value x, Value y) {
  if (isFloat(type))
    return arith::MinimumFOp::create(b, loc, x, y);
  if (isUnsigned(type) || type == ElementType::Bool)
    return arith::MinUIOp::create(b, loc, x, y);
  return arith::MinSIOp::create(b, loc, x, y);
}

Value ashlar::onnx_import::scalarAdd(OpBuilder &b, Location loc, Value x,
                                     Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value ashlar::onnx_import::scalarMul(OpBuilder &b, Location loc, Value x,
                                     Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MulFOp::create(b, loc, x, y);
  return arith::MulIOp::create(b, loc, x, y);
}

TypedAttr ashlar::onnx_import::constantScalar(const NodeImporter &node,
                                              unsigned i) {
  DenseElementsAttr constant = node.constantOperand(i);
  if (!constant || constant.getNumElements() != 1)
    return {};
  return cast<TypedAttr>(*constant.getValues<Attribute>().begin());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's Cast between element types. What the operator leaves undefined (out
// of range floats, NaN to integer) saturates here, the same on every machine.
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static Value floatToInteger(OpBuilder &b, Location loc, Value scalar,
                            Type target, bool isUnsigned) {
  auto type = cast<FloatType>(scalar.getType());
  unsigned width = target.getIntOrFloatBitWidth();
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  APInt lowest =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt highest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  // The largest value that is still inside, in the float type.
  APFloat high(semantics), low(semantics);
  high.convertFromAPInt(highest, !isUnsigned, APFloat::rmTowardZero);
  low.convertFromAPInt(lowest, !isUnsigned, APFloat::rmTowardZero);
  Value lowBound = arith::ConstantOp::create(b, loc, FloatAttr::get(type, low));
  Value highBound =
      arith::ConstantOp::create(b, loc, FloatAttr::get(type, high));
  // Convert only what is inside: outside, the result of the op is poison.
  Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, scalar,
                                      highBound);
  Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, scalar,
                                      lowBound);
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, scalar, scalar);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value outside = arith::OrIOp::create(b, loc, above, below);
  outside = arith::OrIOp::create(b, loc, outside, isNaN);
  Value inside = arith::SelectOp::create(b, loc, outside, zero, scalar);
  Value integer =
      isUnsigned ? arith::FPToUIOp::create(b, loc, target, inside).getResult()
                 : arith::FPToSIOp::create(b, loc, target, inside).getResult();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, IntegerAttr::get(target, value));
  };
  integer = arith::SelectOp::create(b, loc, above, constant(highest), integer);
  return arith::SelectOp::create(b, loc, below, constant(lowest), integer);
}

/// f64 to the f32 that, where it is not exact, has an odd last bit: rounding
/// that to 16 bits gives what rounding the f64 at once would. Compilers have
/// that conversion only as a call into their own library.
static Value roundToOdd(OpBuilder &b, Location loc, Value scalar) {
  Type f32 = b.getF32Type(), f64 = b.getF64Type(), i32 = b.getI32Type();
  Value nearest = arith::TruncFOp::create(b, loc, f32, scalar);
  Value back = arith::ExtFOp::create(b, loc, f64, nearest);
  Value isInexact =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, scalar);
  Value isAway = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                       math::AbsFOp::create(b, loc, back),
                                       math::AbsFOp::create(b, loc, scalar));
  Value bits = arith::BitcastOp::create(b, loc, i32, nearest);
  Value away = arith::ExtUIOp::create(b, loc, i32, isAway);
  Value odd = arith::ExtUIOp::create(b, loc, i32, isInexact);
  Value towardZero = arith::SubIOp::create(b, loc, bits, away);
  Value result = arith::OrIOp::create(b, loc, towardZero, odd);
  return arith::BitcastOp::create(b, loc, f32, result);
}

/// One of the types has less than a byte, or is a float of a byte.
static Value castSmall(OpBuilder &b, Location loc, Value scalar,
                       ElementType from, ElementType to, CastRules rules) {
  if (isSmallFloat(from))
    return castScalar(b, loc, decodeSmallFloat(b, loc, scalar, from),
                      ElementType::F32, to, rules);
  if (isSmallInteger(from))
    return castScalar(b, loc, scalar,
                      isUnsigned(from) ? ElementType::U8 : ElementType::I8, to,
                      rules);
  if (isSmallInteger(to))
    return wrapSmallInteger(
        b, loc, castScalar(b, loc, scalar, from, ElementType::I32), to);
  Value value = from == ElementType::F64
                    ? roundToOdd(b, loc, scalar)
                    : castScalar(b, loc, scalar, from, ElementType::F32);
  return encodeSmallFloat(b, loc, value, to, rules);
}

Value ashlar::onnx_import::castScalar(OpBuilder &b, Location loc, Value scalar,
                                      ElementType from, ElementType to,
                                      CastRules rules) {
  Type source = scalar.getType();
  Type target = convertElementType(b.getContext(), to);
  if (from == to)
    return scalar;
  if (packedBits(from) || packedBits(to))
    return castSmall(b, loc, scalar, from, to, rules);
  if (to == ElementType::Bool) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(source));
    if (isFloat(from))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, scalar,
                                   zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, scalar,
                                 zero);
  }
  if (from == ElementType::Bool)
    return isFloat(to)
               ? arith::UIToFPOp::create(b, loc, target, scalar).getResult()
               : arith::ExtUIOp::create(b, loc, target, scalar).getResult();
  unsigned sourceWidth = source.getIntOrFloatBitWidth();
  unsigned targetWidth = target.getIntOrFloatBitWidth();
  if (isFloat(from) && isFloat(to)) {
    if (targetWidth > sourceWidth)
      return arith::ExtFOp::create(b, loc, target, scalar);
    if (from == ElementType::F64 && targetWidth == 16)
      scalar = roundToOdd(b, loc, scalar);
    if (targetWidth < sourceWidth)
      return arith::TruncFOp::create(b, loc, target, scalar);
    // f16 and bf16: through f32, which holds both.
    Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), scalar);
    return arith::TruncFOp::create(b, loc, target, wide);
  }
  if (isFloat(from))
    return floatToInteger(b, loc, scalar, target, isUnsigned(to));
  if (isFloat(to))
    return isUnsigned(from)
               ? arith::UIToFPOp::create(b, loc, target, scalar).getResult()
               : arith::SIToFPOp::create(b, loc, target, scalar).getResult();
  if (targetWidth > sourceWidth)
    return isUnsigned(from)
               ? arith::ExtUIOp::create(b, loc, target, scalar).getResult()
               : arith::ExtSIOp::create(b, loc, target, scalar).getResult();
  if (targetWidth < sourceWidth)
    return arith::TruncIOp::create(b, loc, target, scalar);
  return scalar;
}

Value ashlar::onnx_import::castTensor(ImplicitLocOpBuilder &b, Value value,
                                      ElementType from, ElementType to,
                                      CastRules rules) {
  if (from == to)
    return value;
  return elementwise(b, convertElementType(b.getContext(), to), {value},
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       return castScalar(b, loc, args[0], from, to, rules);
                     });
}

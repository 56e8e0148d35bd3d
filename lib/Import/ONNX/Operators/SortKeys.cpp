// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SortKeys.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The place is in the lower half; with the first of equals greater, counted
/// down from here, so that no packed key is the greatest i64.
static constexpr unsigned placeBits = 32;
static constexpr int64_t placeMask = (int64_t(1) << placeBits) - 1;
static constexpr int64_t first = placeMask - 1;

static Value integer(OpBuilder &b, Location loc, Type type,
                     const APInt &value) {
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(type, value));
}

Value ashlar::onnx_import::orderedKey(OpBuilder &b, Location loc,
                                      ElementType type, Value value) {
  Type element = value.getType();
  unsigned width = element.getIntOrFloatBitWidth();
  Type key = b.getIntegerType(width);
  if (!isFloat(type)) {
    if (!isUnsigned(type) && type != ElementType::Bool)
      return value;
    Value sign = integer(b, loc, key, APInt::getSignMask(width));
    return arith::XOrIOp::create(b, loc, value, sign);
  }
  // The sign and the rest as a number of its own, which is negated.
  Value bits = arith::BitcastOp::create(b, loc, key, value);
  Value greatest = integer(b, loc, key, APInt::getSignedMaxValue(width));
  Value rest = arith::AndIOp::create(b, loc, bits, greatest);
  Value places = integer(b, loc, key, APInt(width, width - 1));
  Value sign = arith::ShRSIOp::create(b, loc, bits, places);
  Value turned = arith::XOrIOp::create(b, loc, rest, sign);
  Value number = arith::SubIOp::create(b, loc, turned, sign);
  APFloat infinity =
      APFloat::getInf(cast<FloatType>(element).getFloatSemantics());
  Value isNaN =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, rest,
                            integer(b, loc, key, infinity.bitcastToAPInt()));
  return arith::SelectOp::create(b, loc, isNaN, greatest, number);
}

bool ashlar::onnx_import::fitPacked(unsigned keyBits, int64_t places) {
  return keyBits <= 64 - placeBits && places < first;
}

static Value turn(OpBuilder &b, Location loc, Value place, Ties ties) {
  if (ties == Ties::LastIsGreater)
    return place;
  return arith::SubIOp::create(
      b, loc, scalarIntConstant(b, loc, b.getI64Type(), first), place);
}

Value ashlar::onnx_import::packKey(OpBuilder &b, Location loc, Value key,
                                   Value place, Ties ties) {
  Type wide = b.getI64Type();
  Value high =
      arith::ShLIOp::create(b, loc, arith::ExtSIOp::create(b, loc, wide, key),
                            scalarIntConstant(b, loc, wide, placeBits));
  return arith::OrIOp::create(b, loc, high, turn(b, loc, place, ties));
}

Value ashlar::onnx_import::placeOfPacked(OpBuilder &b, Location loc,
                                         Value packed, Ties ties) {
  Value mask = scalarIntConstant(b, loc, b.getI64Type(), placeMask);
  return turn(b, loc, arith::AndIOp::create(b, loc, packed, mask), ties);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SmallTypes.h"
#include "TensorBuilder.h"
#include "ashlar/Analysis/SmallFloats.h"
#include "ashlar/Analysis/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// The type whose code a float of a byte is; null: it has fewer bits.
static FloatType floatTypeOf(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  default:
    assert(type == ElementType::F4E2M1 && "a float of another kind");
    return {};
  }
}

static SmallFloat formatOf(FloatType type) {
  return type ? *smallFloatOf(type) : SmallFloat{2, 1, 1, -1, -1, true, 0x7};
}

/// A power of two by its exponent, biased by 127.
static Value decodeScale(Words w, Value code) {
  Value bits = w.select(w.equals(code, 0), w.word(0x00400000), w.shl(code, 23));
  return w.asFloat(w.select(w.equals(code, 0xff), w.word(0x7fc00000), bits));
}

static Value encodeScale(Words w, Value value, CastRules rules) {
  Value bits = w.asWord(value);
  Value exponent = w.mask(w.shr(bits, 23), 0xff);
  Value rest = w.mask(bits, 0x7fffff);
  Value rises;
  if (rules.scaleRounding == CastRules::Up)
    rises = w.is(arith::CmpIPredicate::ne, rest, 0);
  else if (rules.scaleRounding == CastRules::Nearest)
    // A half rises, but for numbers below all powers.
    rises = arith::AndIOp::create(
        w.b, w.loc, w.is(arith::CmpIPredicate::uge, rest, 0x400000),
        arith::OrIOp::create(w.b, w.loc,
                             w.is(arith::CmpIPredicate::ne, exponent, 0),
                             w.is(arith::CmpIPredicate::ugt, rest, 0x400000)));
  Value code = exponent;
  if (rises) {
    Value step = arith::ExtUIOp::create(w.b, w.loc, w.i32, rises);
    Value highest = w.word(rules.saturate ? 0xfe : 0xff);
    code = arith::MinUIOp::create(w.b, w.loc, w.add(exponent, step), highest);
  }
  code = w.select(w.equals(exponent, 0xff), w.word(0xff), code);
  return w.narrow(code);
}

Value ashlar::onnx_import::decodeSmallFloat(OpBuilder &b, Location loc,
                                            Value element, ElementType type) {
  if (type == ElementType::F8E8M0) {
    Words w(b, loc);
    return decodeScale(w, arith::ExtUIOp::create(b, loc, w.i32, element));
  }
  FloatType code = floatTypeOf(b.getContext(), type);
  if (!code)
    return ashlar::decodeSmallFloat(b, loc, element, formatOf(code));
  // Who multiplies it may have a unit for it.
  Value number = arith::BitcastOp::create(b, loc, code, element);
  return arith::ExtFOp::create(b, loc, b.getF32Type(), number);
}

Value ashlar::onnx_import::encodeSmallFloat(OpBuilder &b, Location loc,
                                            Value value, ElementType type,
                                            CastRules rules) {
  Words w(b, loc);
  if (type == ElementType::F8E8M0)
    return encodeScale(w, value, rules);
  SmallFloat f = formatOf(floatTypeOf(b.getContext(), type));
  int magnitudeBits = f.exponent + f.mantissa, dropped = 23 - f.mantissa;
  Value bits = w.asWord(value);
  Value positive = w.mask(bits, 0x7fffffff);
  Value odd = w.mask(w.shr(positive, dropped), 1);
  Value rounded = w.add(w.add(positive, odd), (1 << (dropped - 1)) - 1);
  Value normal =
      w.add(w.shr(rounded, dropped), -(int64_t(127 - f.bias) << f.mantissa));
  // Too small for a normal number: count the steps. What is not small must
  // not reach the conversion.
  Value isTiny =
      w.is(arith::CmpIPredicate::ult, positive, int64_t(128 - f.bias) << 23);
  Value small = w.select(isTiny, w.asFloat(positive), w.real(0));
  Value steps = math::RoundEvenOp::create(
      b, loc,
      arith::MulFOp::create(b, loc, small,
                            w.real(std::ldexp(1.0, f.bias - 1 + f.mantissa))));
  Value tiny = arith::FPToSIOp::create(b, loc, w.i32, steps);
  Value code = w.select(isTiny, tiny, normal);
  // f4 has nothing above its largest value.
  bool saturates = rules.saturate || (f.infinity < 0 && f.nan < 0);
  int above = saturates ? f.largest : f.infinity >= 0 ? f.infinity : f.nan;
  Value isAbove = w.is(arith::CmpIPredicate::sgt, code, f.largest);
  code = w.select(isAbove, w.word(above), code);
  Value sign = w.mask(w.shr(bits, 31 - magnitudeBits), 1 << magnitudeBits);
  if (!f.signedZero)
    sign = w.select(w.equals(code, 0), w.word(0), sign);
  code = w.orWith(code, sign);
  // NaN: of f4, which has none, negative zero.
  Value isNaN = w.is(arith::CmpIPredicate::ugt, positive, 0x7f800000);
  code = w.select(isNaN, w.word(f.nan >= 0 ? f.nan : 1 << magnitudeBits), code);
  return w.narrow(code);
}

Value ashlar::onnx_import::wrapSmallInteger(OpBuilder &b, Location loc,
                                            Value value, ElementType type) {
  Words w(b, loc);
  int unused = 32 - packedBits(type);
  Value high = w.shl(value, unused);
  Value element =
      isUnsigned(type)
          ? w.shr(high, unused)
          : arith::ShRSIOp::create(b, loc, high, w.word(unused)).getResult();
  return w.narrow(element);
}

Value ashlar::onnx_import::unpack(ImplicitLocOpBuilder &b, Value bytes,
                                  ArrayRef<int64_t> shape, ElementType type) {
  unsigned bits = packedBits(type), count = 8 / bits;
  int64_t elements = ShapedType::getNumElements(shape);
  AffineExpr i = b.getAffineDimExpr(0);
  AffineMap byte = AffineMap::get(1, 0, i.floorDiv(count), b.getContext());
  Value flat = parallel(
      b, {elements}, b.getI8Type(), {bytes}, {byte},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Words w(b, loc);
        Value at = arith::IndexCastOp::create(
            b, loc, w.i32, linalg::IndexOp::create(b, loc, 0));
        Value shift = w.shl(w.mask(at, count - 1), llvm::Log2_32(bits));
        Value word = arith::ExtUIOp::create(b, loc, w.i32, args[0]);
        Value field = arith::ShRUIOp::create(b, loc, word, shift);
        return isSmallInteger(type) ? wrapSmallInteger(b, loc, field, type)
                                    : w.narrow(w.mask(field, (1 << bits) - 1));
      });
  return reshape(b, flat, shape);
}

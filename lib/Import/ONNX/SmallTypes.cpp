// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SmallTypes.h"
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// A float of a sign, then `exponent` bits, then `mantissa` bits.
struct Format {
  int exponent, mantissa, bias;
  int infinity; ///< code without sign; -1: none
  int nan;      ///< the code of NaN; -1: none
  bool signedZero;
  int largest; ///< code of the largest value
};
} // namespace

static Format formatOf(ElementType type) {
  // The tables of "Float stored in 8 bits" in ONNX's documentation.
  switch (type) {
  case ElementType::F8E4M3FN:
    return {4, 3, 7, -1, 0x7f, true, 0x7e};
  case ElementType::F8E4M3FNUZ:
    return {4, 3, 8, -1, 0x80, false, 0x7f};
  case ElementType::F8E5M2:
    return {5, 2, 15, 0x7c, 0x7f, true, 0x7b};
  case ElementType::F8E5M2FNUZ:
    return {5, 2, 16, -1, 0x80, false, 0x7f};
  default:
    assert(type == ElementType::F4E2M1 && "a float of another kind");
    return {2, 1, 1, -1, -1, true, 0x7};
  }
}

namespace {
/// Expressions of i32 and f32 scalars.
struct Words {
  OpBuilder &b;
  Location loc;
  Type i32 = b.getI32Type(), f32 = b.getF32Type();

  Value word(int64_t value) { return scalarIntConstant(b, loc, i32, value); }
  Value real(double value) { return scalarConstant(b, loc, f32, value); }
  Value shl(Value x, int n) {
    return arith::ShLIOp::create(b, loc, x, word(n));
  }
  Value shr(Value x, int n) {
    return arith::ShRUIOp::create(b, loc, x, word(n));
  }
  Value mask(Value x, int64_t bits) {
    return arith::AndIOp::create(b, loc, x, word(bits));
  }
  Value orWith(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, int64_t y) { return add(x, word(y)); }
  Value is(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, predicate, x, word(y));
  }
  Value equals(Value x, int64_t y) {
    return is(arith::CmpIPredicate::eq, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value asFloat(Value x) { return arith::BitcastOp::create(b, loc, f32, x); }
  Value asWord(Value x) { return arith::BitcastOp::create(b, loc, i32, x); }
  Value narrow(Value x) {
    return arith::TruncIOp::create(b, loc, b.getI8Type(), x);
  }
};
} // namespace

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
  Words w{b, loc};
  Value code = arith::ExtUIOp::create(b, loc, w.i32, element);
  if (type == ElementType::F8E8M0)
    return decodeScale(w, code);
  Format f = formatOf(type);
  int magnitudeBits = f.exponent + f.mantissa;
  Value magnitude = w.mask(code, (1 << magnitudeBits) - 1);
  Value sign = w.shl(w.mask(code, 1 << magnitudeBits), 31 - magnitudeBits);
  // Exponent and mantissa move together; below the normal numbers it is the
  // mantissa that counts.
  Value normal = w.asFloat(
      w.add(w.shl(magnitude, 23 - f.mantissa), int64_t(127 - f.bias) << 23));
  Value steps = arith::UIToFPOp::create(b, loc, w.f32, magnitude);
  Value tiny = arith::MulFOp::create(
      b, loc, steps, w.real(std::ldexp(1.0, 1 - f.bias - f.mantissa)));
  Value isTiny =
      w.is(arith::CmpIPredicate::ult, magnitude, int64_t(1) << f.mantissa);
  Value bits = w.asWord(w.select(isTiny, tiny, normal));
  if (f.infinity >= 0)
    bits = w.select(w.is(arith::CmpIPredicate::uge, magnitude, f.infinity),
                    w.select(w.equals(magnitude, f.infinity),
                             w.word(0x7f800000), w.word(0x7fc00000)),
                    bits);
  else if (f.nan >= 0)
    bits = w.select(w.equals(f.signedZero ? magnitude : code, f.nan),
                    w.word(0x7fc00000), bits);
  return w.asFloat(w.orWith(bits, sign));
}

Value ashlar::onnx_import::encodeSmallFloat(OpBuilder &b, Location loc,
                                            Value value, ElementType type,
                                            CastRules rules) {
  Words w{b, loc};
  if (type == ElementType::F8E8M0)
    return encodeScale(w, value, rules);
  Format f = formatOf(type);
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
  Words w{b, loc};
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
        Words w{b, loc};
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

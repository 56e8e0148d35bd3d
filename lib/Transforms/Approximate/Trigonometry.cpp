// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sin, cos and tan. |x| = n pi/2 + r, |r| <= pi/4, by n and two parts of pi/2
// below 2^25, elsewhere by Payne and Hanek's method: of the product of the
// mantissa with 2/pi, as integers, only those bits that are neither multiples
// of four nor too small.
#include "DoubleFunctions.h"

using namespace mlir;
using namespace ashlar;
using Predicate = arith::CmpFPredicate;

namespace {
struct Angle {
  Value n; ///< an integer, of which the two lowest bits count
  Value r;
};
} // namespace

static constexpr double halfPi = 0x1.921fb54442d18p+0,
                        halfPiLow = 0x1.1a62633145c07p-54,
                        twoOverPi = 0x1.45f306dc9c883p-1;
static constexpr double largeFrom = 0x1p+25;

static Angle reduceModerate(DoubleBuilder &f, Value x) {
  x = f.select(f.compare(Predicate::OLT, x, largeFrom), x, f.constant(0));
  Value n = f.round(f.scale(x, twoOverPi));
  Value r = f.fma(n, f.constant(-halfPi), x);
  return {f.toInteger(n), f.fma(n, f.constant(-halfPiLow), r)};
}

/// Of the bits of 2/pi behind the point, 64 from bit 32 `word` on, for a word
/// of 0 to 3 that differs by element.
static Value bitsOfTwoOverPi(DoubleBuilder &f, Value word, int first) {
  static constexpr uint32_t words[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041,
                                       0xfe5163ab};
  Value result;
  for (int i = 3; i >= 0; --i) {
    Value bits = f.integer(
        int64_t(uint64_t(words[first + i]) << 32 | words[first + i + 1]));
    Value isHere = f.compareInt(arith::CmpIPredicate::eq, word, f.integer(i));
    result = result ? f.select(isHere, bits, result) : bits;
  }
  return result;
}

/// x = m 2^s, m < 2^24. Of m times 96 bits of 2/pi, the lowest of weight
/// 2^(-94 - s), 64 bits are kept: x 2/pi modulo 4, in units of 2^-62.
static Angle reduceLarge(DoubleBuilder &f, Value x) {
  // Infinities and NaN have no angle; all else goes on.
  Value isLarge = f.bitAnd(f.compare(Predicate::OGE, x, largeFrom),
                           f.compare(Predicate::OLT, x, f.infinity()));
  Value bits = f.bits(f.select(isLarge, x, f.constant(largeFrom)));
  Value m = f.bitAnd(f.shiftRight(bits, 29), 0x7fffff);
  m = f.bitOr(m, f.integer(0x800000));
  // The first of those bits, 2^25 having bit 0.
  Value at = f.addInt(f.shiftRight(bits, 52), -(1023 + 25));
  Value word = f.shiftRight(at, 5), shift = f.bitAnd(at, 31);
  Value high = bitsOfTwoOverPi(f, word, 0), low = bitsOfTwoOverPi(f, word, 2);
  Value back = f.subInt(f.integer(63), shift);
  high = f.bitOr(f.shiftLeft(high, shift),
                 f.shiftRight(f.shiftRight(low, 1), back));
  low = f.shiftRight(f.shiftLeft(low, shift), 32);
  Value turns = f.addInt(f.mulInt(m, high), f.shiftRight(f.mulInt(m, low), 32));
  Value n = f.shiftSigned(f.addInt(turns, int64_t(1) << 61), 62);
  Value rest = f.toFloat(f.subInt(turns, f.shiftLeft(n, 62)));
  return {n, f.scale(rest, halfPi * 0x1p-62)};
}

/// `x` is not negative.
static Angle reduce(DoubleBuilder &f, Value x) {
  Angle moderate = reduceModerate(f, x), large = reduceLarge(f, x);
  Value isModerate = f.compare(Predicate::OLT, x, largeFrom);
  return {f.select(isModerate, moderate.n, large.n),
          f.select(isModerate, moderate.r, large.r)};
}

static Value sinNearZero(DoubleBuilder &f, Value r) {
  Value z = f.mul(r, r);
  Value p = f.polynomial(z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880,
                             -1.0 / 39916800, 1.0 / 6227020800,
                             -1.0 / 1307674368000});
  return f.fma(f.mul(z, p), r, r);
}

static Value cosNearZero(DoubleBuilder &f, Value r) {
  return f.polynomial(f.mul(r, r),
                      {1, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320,
                       -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200});
}

static Value isSet(DoubleBuilder &f, Value n, int64_t bit) {
  return f.compareInt(arith::CmpIPredicate::ne, f.bitAnd(n, bit), 0);
}

static Value nanUnlessFinite(DoubleBuilder &f, Value result, Value magnitude) {
  Value isFinite = f.compare(Predicate::OLT, magnitude, f.infinity());
  return f.select(isFinite, result, f.nan());
}

/// sin(r + n pi/2)
static Value sinOf(DoubleBuilder &f, Angle angle) {
  Value result = f.select(isSet(f, angle.n, 1), cosNearZero(f, angle.r),
                          sinNearZero(f, angle.r));
  return f.select(isSet(f, angle.n, 2), f.neg(result), result);
}

Value ashlar::buildSin(DoubleBuilder &f, Value x) {
  Value magnitude = f.abs(x);
  Value result = sinOf(f, reduce(f, magnitude));
  result = f.select(f.isNegative(x), f.neg(result), result);
  return nanUnlessFinite(f, result, magnitude);
}

Value ashlar::buildCos(DoubleBuilder &f, Value x) {
  Value magnitude = f.abs(x);
  Angle angle = reduce(f, magnitude);
  Value result = sinOf(f, {f.addInt(angle.n, 1), angle.r});
  return nanUnlessFinite(f, result, magnitude);
}

Value ashlar::buildTan(DoubleBuilder &f, Value x) {
  Value magnitude = f.abs(x);
  Angle angle = reduce(f, magnitude);
  Value sin = sinNearZero(f, angle.r), cos = cosNearZero(f, angle.r);
  Value isOdd = isSet(f, angle.n, 1);
  Value result =
      f.div(f.select(isOdd, f.neg(cos), sin), f.select(isOdd, sin, cos));
  result = f.select(f.isNegative(x), f.neg(result), result);
  return nanUnlessFinite(f, result, magnitude);
}

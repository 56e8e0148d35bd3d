// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DoubleFunctions.h"

using namespace mlir;
using namespace ashlar;
using Predicate = arith::CmpFPredicate;

static constexpr double log2OfE = 0x1.71547652b82fep+0;
static constexpr double log10OfE = 0x1.bcb7b1526e50ep-2;
/// ln 2 in two parts. Products of the first with exponents are exact.
static constexpr double ln2High = 0x1.62e42feep-1,
                        ln2Low = 0x1.a39ef35793c76p-33;

/// 2^n for a whole number, -1023 < n < 1024.
static Value powerOfTwo(DoubleBuilder &f, Value n) {
  return f.fromBits(f.shiftLeft(f.addInt(n, 1023), 52));
}

/// 2^n exp(r), |r| <= ln(2) / 2, by two factors of 2^n / 2: the first product
/// is exact, the second may overflow or be denormal and rounds once.
Value ashlar::buildExp64(DoubleBuilder &f, Value x) {
  // Beyond these, results are zero and infinity.
  x = f.atMost(f.atLeast(x, -746), 710);
  Value n = f.round(f.scale(x, log2OfE));
  Value r = f.fma(n, f.constant(-ln2High), x);
  r = f.fma(n, f.constant(-ln2Low), r);
  Value p =
      f.polynomial(r, {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                       1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
                       1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800});
  p = f.add(f.constant(1), f.fma(f.mul(r, r), p, r));
  // What a NaN is as an integer does not matter.
  Value whole =
      f.toInteger(f.select(f.compare(Predicate::UNO, x, x), f.constant(0), n));
  Value half = f.shiftSigned(whole, 1);
  p = f.mul(p, powerOfTwo(f, half));
  return f.mul(p, powerOfTwo(f, f.subInt(whole, half)));
}

/// n ln 2 + log(1 + r), of which the second is 2 atanh(s), s = r / (2 + r), in
/// an order in which r is added last: only it is not rounded.
Value ashlar::buildLog64(DoubleBuilder &f, Value x) {
  constexpr int64_t rootOfHalf = 0x3fe6a09e667f3bcd;
  constexpr int64_t mantissa = (int64_t(1) << 52) - 1;
  Value denormal = f.compare(Predicate::OLT, x, 0x1p-1022);
  Value normal = f.select(denormal, f.scale(x, 0x1p+54), x);
  Value parts = f.addInt(f.bits(normal), -rootOfHalf);
  Value m = f.fromBits(f.addInt(f.bitAnd(parts, mantissa), rootOfHalf));
  Value n = f.toFloat(f.shiftSigned(parts, 52));
  n = f.select(denormal, f.add(n, f.constant(-54)), n);
  Value r = f.add(m, f.constant(-1));
  Value s = f.div(r, f.add(m, f.constant(1)));
  Value z = f.mul(s, s), halfSquare = f.mul(f.scale(r, 0.5), r);
  Value p = f.polynomial(z, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11,
                             2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21});
  Value rest = f.mul(s, f.fma(z, p, halfSquare));
  rest = f.fma(n, f.constant(ln2Low), rest);
  Value log = f.sub(r, f.sub(halfSquare, rest));
  log = f.fma(n, f.constant(ln2High), log);
  // Infinity and NaN are their own; zero is a pole.
  log = f.select(f.compare(Predicate::UGE, x, f.infinity()), x, log);
  log = f.select(f.compare(Predicate::OEQ, x, 0), f.neg(f.infinity()), log);
  return f.select(f.compare(Predicate::OLT, x, 0), f.nan(), log);
}

Value ashlar::buildLog2(DoubleBuilder &f, Value x) {
  return f.scale(buildLog64(f, x), log2OfE);
}

Value ashlar::buildLog10(DoubleBuilder &f, Value x) {
  return f.scale(buildLog64(f, x), log10OfE);
}

/// exp(y log |x|), with the sign of an odd power. What differs where a factor
/// is zero and the other infinite, or a NaN does not matter, comes behind.
Value ashlar::buildPow(DoubleBuilder &f, Value x, Value y) {
  Value magnitude = f.abs(x), one = f.constant(1);
  Value power = buildExp64(f, f.mul(y, buildLog64(f, magnitude)));
  Value isNumber = f.compare(Predicate::ORD, y, y);
  Value isOne = f.compare(Predicate::OEQ, magnitude, 1);
  power = f.select(f.bitAnd(isOne, isNumber), one, power);

  Value half = f.scale(y, 0.5);
  Value isWhole = f.compare(Predicate::OEQ, f.round(y), y);
  Value isOdd =
      f.bitAnd(isWhole, f.compare(Predicate::ONE, f.round(half), half));
  Value hasRoot =
      f.bitOr(isWhole, f.compare(Predicate::OEQ, magnitude, f.infinity()));
  // A number below zero: not -0, not NaN.
  Value isBelow = f.compare(Predicate::OLT, x, 0);
  Value negative = f.select(hasRoot, power, f.nan());
  power = f.select(isBelow, negative, power);
  power = f.select(f.bitAnd(isOdd, f.isNegative(x)), f.neg(power), power);
  Value isSure =
      f.bitOr(f.compare(Predicate::OEQ, x, 1), f.compare(Predicate::OEQ, y, 0));
  return f.select(isSure, one, power);
}

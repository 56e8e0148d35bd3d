// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Functions.h"
#include "PowersOfTwo.h"

using namespace mlir;
using namespace ashlar;

/// exp(r) 2^n, |r| <= ln(2) / 2, -150 <= n <= 128, from 2^(n + 64) where x is
/// negative and 2^(n - 64) elsewhere: neither overflows nor is denormal, and
/// the one product that may be rounds once.
static Value buildScaledExp(FloatBuilder &f, Value r, Value scale,
                            Value negative) {
  Value p = f.polynomial(r, {1, 1, 0x1.fffffcp-2f, 0x1.555492p-3f,
                             0x1.5558bep-5f, 0x1.1239ep-7f, 0x1.6a3fb4p-10f});
  return f.mul(f.mul(p, scale), f.select(negative, 0x1p-64f, 0x1p+64f));
}

Value ashlar::buildExp(FloatBuilder &f, Value x) {
  // Beyond these, results are zero and infinity.
  x = f.atMost(f.atLeast(x, -104), 89);
  Value negative = f.isNegative(x);
  Value shift = f.select(negative, roundingShift(64), roundingShift(-64));
  PowerOfTwo power = splitPower(f, x, log2OfE, shift);
  return buildScaledExp(f, subtractLn2(f, x, power.n), power.scale, negative);
}

Value ashlar::buildExp2(FloatBuilder &f, Value x) {
  x = f.atMost(f.atLeast(x, -151), 128);
  Value negative = f.isNegative(x);
  Value shift = f.select(negative, roundingShift(64), roundingShift(-64));
  PowerOfTwo power = splitPower(f, x, 1, shift);
  Value r = f.mul(f.sub(x, power.n), f.constant(ln2));
  return buildScaledExp(f, r, power.scale, negative);
}

Value ashlar::buildExpM1(FloatBuilder &f, Value x) {
  Value sign = x;
  x = f.atMost(f.atLeast(x, -17.5f), 89);
  // Where 2^n might overflow, all is computed of half of it.
  Value large = f.compare(arith::CmpFPredicate::OGT, x, 1);
  Value one = f.select(large, 0.5f, 1);
  Value shift = f.select(large, roundingShift(-1), roundingShift(0));
  PowerOfTwo power = splitPower(f, x, log2OfE, shift);
  Value r = subtractLn2(f, x, power.n);
  // 2^n (exp(r) - 1) + (2^n - 1), of which the second is exact or does not
  // matter.
  Value p = f.polynomial(r, {0x1.fffffep-2f, 0x1.5554b2p-3f, 0x1.5556f8p-5f,
                             0x1.1226d8p-7f, 0x1.6b9704p-10f});
  p = f.fma(p, f.mul(r, r), r);
  Value result = f.fma(power.scale, p, f.sub(power.scale, one));
  return f.copySign(f.mul(result, f.select(large, 2, 1)), sign);
}

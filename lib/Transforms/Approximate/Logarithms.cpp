// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Functions.h"
#include "PowersOfTwo.h"
#include <limits>

using namespace mlir;
using namespace ashlar;

/// The bits of 2/3. Less these, those of a number x are n 2^23 + a rest, where
/// x = 2^n m, 2/3 <= m < 4/3.
static constexpr int32_t twoThirds = 0x3f2aaaab;

/// n ln 2 + log(1 + r), -1/3 <= r <= 1/3. No digits cancel in the sum, as the
/// second is less than half of the first.
static Value buildLogOfParts(FloatBuilder &f, Value n, Value r) {
  Value p = f.polynomial(r, {-0.5f, 0x1.555506p-2f, -0x1.fffefap-3f,
                             0x1.99d052p-3f, -0x1.559c6p-3f, 0x1.1ed53p-3f,
                             -0x1.f333cap-4f, 0x1.1e6df4p-3f, -0x1.07c198p-3f});
  p = f.fma(p, f.mul(r, r), r);
  return f.fma(n, f.constant(ln2High), f.fma(n, f.constant(ln2Low), p));
}

/// `log` where x is positive and finite, and what belongs at the pole, below
/// it, and at infinity and NaN.
static Value handleEdges(FloatBuilder &f, Value log, Value x, float pole) {
  using Predicate = arith::CmpFPredicate;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Value result = f.select(f.compare(Predicate::UGE, x, infinity), x, log);
  result = f.select(f.compare(Predicate::OEQ, x, pole), f.constant(-infinity),
                    result);
  Value nan = f.constant(std::numeric_limits<float>::quiet_NaN());
  return f.select(f.compare(Predicate::OLT, x, pole), nan, result);
}

Value ashlar::buildLog(FloatBuilder &f, Value x) {
  Value denormal = f.compare(arith::CmpFPredicate::OLT, x, 0x1p-126f);
  Value normal = f.mul(x, f.select(denormal, 0x1p+23f, 1));
  Value parts = f.addInt(f.bits(normal), -twoThirds);
  Value m = f.fromBits(f.addInt(f.bitAnd(parts, 0x7fffff), twoThirds));
  Value n =
      f.add(f.toFloat(f.shiftSigned(parts, 23)), f.select(denormal, -23, 0));
  Value log = buildLogOfParts(f, n, f.sub(m, f.constant(1)));
  return handleEdges(f, log, x, 0);
}

Value ashlar::buildLog1p(FloatBuilder &f, Value x) {
  // 1 + x = 2^n m. What it lost to rounding is not lost to
  // m - 1 = 2^-n x + (2^-n - 1).
  Value sum = f.add(x, f.constant(1));
  Value parts = f.bitAnd(f.addInt(f.bits(sum), -twoThirds), ~0x7fffff);
  Value shrunk = f.fromBits(f.subInt(f.bits(x), parts));
  // 4 2^-n, since 2^-128 would be denormal.
  Value scale = f.fromBits(f.subInt(f.integer(0x40800000), parts));
  Value r = f.add(shrunk, f.fma(scale, f.constant(0.25f), f.constant(-1)));
  Value n = f.toFloat(f.shiftSigned(parts, 23));
  Value log = buildLogOfParts(f, n, r);
  return f.copySign(handleEdges(f, log, x, -1), x);
}

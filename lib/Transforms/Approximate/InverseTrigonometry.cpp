// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// asin, acos, atan and atan2 are the angle of a point (x, y).
#include "DoubleFunctions.h"

using namespace mlir;
using namespace ashlar;
using Predicate = arith::CmpFPredicate;

/// From -pi to pi, with the sign of y. The point is turned to between 0 and
/// pi/4, and if it is beyond pi/8, by -pi/4: then tan is at most sqrt(2) - 1.
Value ashlar::buildAtan2(DoubleBuilder &f, Value y, Value x) {
  constexpr double pi = 0x1.921fb54442d18p+1;
  // So large that infinity is the larger and two of them are alike.
  Value width = f.atMost(f.abs(x), 0x1p+1000);
  Value height = f.atMost(f.abs(y), 0x1p+1000);
  Value isSteep = f.compare(Predicate::OGT, height, width);
  Value low = f.select(isSteep, width, height);
  Value high = f.select(isSteep, height, width);
  Value isTurned = f.compare(Predicate::OGT, low, f.scale(high, 0.41421356));
  Value up = f.select(isTurned, f.sub(low, high), low);
  Value along = f.select(isTurned, f.add(low, high), high);
  // At the origin, any.
  along = f.select(f.compare(Predicate::OEQ, high, 0), f.constant(1), along);
  Value t = f.div(up, along), z = f.mul(t, t);
  Value p = f.polynomial(z, {-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11,
                             1.0 / 13, -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21,
                             -1.0 / 23, 1.0 / 25, -1.0 / 27, 1.0 / 29,
                             -1.0 / 31, 1.0 / 33});
  Value angle = f.fma(f.mul(z, p), t, t);
  angle = f.select(isTurned, f.add(angle, f.constant(pi / 4)), angle);
  angle = f.select(isSteep, f.sub(f.constant(pi / 2), angle), angle);
  angle = f.select(f.isNegative(x), f.sub(f.constant(pi), angle), angle);
  // Comparisons with NaN may have lost it.
  Value isNaN = f.compare(Predicate::UNO, x, y);
  return f.select(isNaN, f.nan(), f.copySign(angle, y));
}

Value ashlar::buildAtan(DoubleBuilder &f, Value x) {
  return buildAtan2(f, x, f.constant(1));
}

/// The other leg of a triangle whose longest side is one; NaN if x is longer.
static Value otherLeg(DoubleBuilder &f, Value x) {
  Value one = f.constant(1);
  return f.sqrt(f.mul(f.sub(one, x), f.add(one, x)));
}

Value ashlar::buildAsin(DoubleBuilder &f, Value x) {
  return buildAtan2(f, x, otherLeg(f, x));
}

Value ashlar::buildAcos(DoubleBuilder &f, Value x) {
  return buildAtan2(f, otherLeg(f, x), x);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sinh, cosh and their inverses from exp and log, and from a series where those
// cancel. f64 has digits enough that the series is short.
#include "DoubleFunctions.h"

using namespace mlir;
using namespace ashlar;
using Predicate = arith::CmpFPredicate;

/// x + x^3 P(x^2)
static Value oddSeries(DoubleBuilder &f, Value x, ArrayRef<double> p) {
  Value z = f.mul(x, x);
  return f.fma(f.mul(z, f.polynomial(z, p)), x, x);
}

static Value exponential(DoubleBuilder &f, Value magnitude) {
  // f32 has no results from 90 on, f64 still squares of them.
  return buildExp64(f, f.atMost(magnitude, 100));
}

Value ashlar::buildSinh(DoubleBuilder &f, Value x) {
  Value magnitude = f.abs(x), e = exponential(f, magnitude);
  Value far = f.scale(f.sub(e, f.div(f.constant(1), e)), 0.5);
  Value near =
      oddSeries(f, magnitude,
                {1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800});
  Value isNear = f.compare(Predicate::OLT, magnitude, 0.25);
  return f.copySign(f.select(isNear, near, far), x);
}

Value ashlar::buildCosh(DoubleBuilder &f, Value x) {
  Value e = exponential(f, f.abs(x));
  return f.scale(f.add(e, f.div(f.constant(1), e)), 0.5);
}

Value ashlar::buildAsinh(DoubleBuilder &f, Value x) {
  Value magnitude = f.abs(x);
  Value root = f.sqrt(f.fma(x, x, f.constant(1)));
  Value far = buildLog64(f, f.add(magnitude, root));
  Value near = oddSeries(f, magnitude, {-1.0 / 6, 3.0 / 40});
  Value isNear = f.compare(Predicate::OLT, magnitude, 0x1p-10);
  return f.copySign(f.select(isNear, near, far), x);
}

Value ashlar::buildAcosh(DoubleBuilder &f, Value x) {
  Value root = f.sqrt(f.fma(x, x, f.constant(-1)));
  Value result = buildLog64(f, f.add(x, root));
  return f.select(f.compare(Predicate::OLT, x, 1), f.nan(), result);
}

Value ashlar::buildAtanh(DoubleBuilder &f, Value x) {
  Value magnitude = f.abs(x), one = f.constant(1);
  Value ratio = f.div(f.add(one, magnitude), f.sub(one, magnitude));
  Value far = f.scale(buildLog64(f, ratio), 0.5);
  Value near = oddSeries(f, magnitude, {1.0 / 3, 1.0 / 5, 1.0 / 7});
  Value isNear = f.compare(Predicate::OLT, magnitude, 0x1p-8);
  return f.copySign(f.select(isNear, near, far), x);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Functions.h"
#include "PowersOfTwo.h"

using namespace mlir;
using namespace ashlar;

/// 1 - exp(-(|x| + |x| P(|x|))), by way of exp(.) - 1, so that nothing cancels
/// near zero and one polynomial serves the whole range.
Value ashlar::buildErf(FloatBuilder &f, Value x) {
  // The result is one from 3.92 on.
  Value t = f.atMost(f.abs(x), 3.93f);
  Value p =
      f.polynomial(t, {0x1.06eba8p-3f, 0x1.45f3p-1f, 0x1.a4f8c4p-4f,
                       -0x1.39b7cap-6f, -0x1.637a62p-13f, 0x1.b744eep-10f,
                       -0x1.4e29e6p-11f, 0x1.f28bfap-14f, -0x1.3b042p-17f});
  Value exponent = f.neg(f.fma(p, t, t));
  PowerOfTwo power =
      splitPower(f, exponent, log2OfE, f.constant(roundingShift(0)));
  Value r = f.fma(power.n, f.constant(-ln2), exponent);
  Value q = f.polynomial(r, {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558bep-5f,
                             0x1.1239ep-7f, 0x1.6a3fb4p-10f});
  q = f.fma(q, f.mul(r, r), r);
  // 1 - 2^n (1 + q)
  Value rest = f.sub(f.constant(1), power.scale);
  return f.copySign(f.fma(f.neg(power.scale), q, rest), x);
}

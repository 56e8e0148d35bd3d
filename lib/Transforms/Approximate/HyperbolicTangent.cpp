// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Functions.h"
#include "PowersOfTwo.h"

using namespace mlir;
using namespace ashlar;

/// An odd polynomial near zero, where 1 - 2 / (exp(2 |x|) + 1) cancels, and
/// that elsewhere.
Value ashlar::buildTanh(FloatBuilder &f, Value x) {
  Value magnitude = f.abs(x), square = f.mul(x, x);
  Value near =
      f.polynomial(square, {-0x1.55553ep-2f, 0x1.1109bep-3f, -0x1.b89abap-5f,
                            0x1.54c3c2p-6f, -0x1.828776p-8f});
  near = f.fma(f.mul(near, square), magnitude, magnitude);

  // The result is one from 9.01 on.
  Value twice = f.atMost(magnitude, 9.1f);
  twice = f.add(twice, twice);
  PowerOfTwo power =
      splitPower(f, twice, log2OfE, f.constant(roundingShift(0)));
  Value r = f.fma(power.n, f.constant(-ln2), twice);
  Value p = f.polynomial(r, {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558bep-5f,
                             0x1.1239ep-7f, 0x1.6a3fb4p-10f});
  p = f.fma(p, f.mul(r, r), r);
  Value one = f.constant(1);
  Value sum = f.fma(power.scale, p, f.add(power.scale, one));
  Value far = f.fma(f.constant(-2), f.div(one, sum), one);

  Value isFar = f.compare(arith::CmpFPredicate::OGT, magnitude, 0.6f);
  return f.copySign(f.select(isFar, far, near), x);
}

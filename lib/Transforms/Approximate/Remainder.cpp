// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DoubleFunctions.h"

using namespace mlir;
using namespace ashlar;
using Predicate = arith::CmpFPredicate;

namespace {
/// m 2^exponent, m < 2^24 as that of any f32 is.
struct Parts {
  Value m, exponent;
};
} // namespace

/// In f64 a denormal f32 is normal.
static Parts split(DoubleBuilder &f, Value x) {
  Value bits = f.bits(x);
  Value m = f.bitAnd(f.shiftRight(bits, 29), 0x7fffff);
  return {f.bitOr(m, f.integer(0x800000)),
          f.addInt(f.shiftRight(bits, 52), -(1023 + 23))};
}

/// Exact: of m 2^d the remainder by another m, 40 bits at a time, of which f32
/// has at most 276.
Value ashlar::buildFmod(DoubleBuilder &f, Value x, Value y) {
  using IntPredicate = arith::CmpIPredicate;
  Value width = f.abs(x), step = f.abs(y);
  Value isDefined = f.bitAnd(f.compare(Predicate::OLT, width, f.infinity()),
                             f.compare(Predicate::OGT, step, 0));
  Value isLess = f.compare(Predicate::OLT, width, step);
  // Elsewhere any numbers will do that have parts.
  Value divides = f.bitAnd(isDefined, f.compare(Predicate::OGE, width, step));
  Value one = f.constant(1);
  Parts from = split(f, f.select(divides, width, one));
  Parts by = split(f, f.select(divides, step, one));
  Value rest = f.remainder(from.m, by.m);
  Value left = f.subInt(from.exponent, by.exponent);
  Value most = f.integer(40);
  for (int bits = 0; bits < 277; bits += 40) {
    Value now =
        f.select(f.compareInt(IntPredicate::slt, left, most), left, most);
    rest = f.remainder(f.shiftLeft(rest, now), by.m);
    left = f.subInt(left, now);
  }
  Value unit = f.fromBits(f.shiftLeft(f.addInt(by.exponent, 1023), 52));
  Value result = f.mul(f.toFloat(rest), unit);
  result = f.copySign(f.select(isLess, width, result), x);
  return f.select(isDefined, result, f.nan());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/SmallFloats.h"
#include "ashlar/Analysis/Words.h"
#include <cmath>

using namespace mlir;
using namespace ashlar;

std::optional<SmallFloat> ashlar::smallFloatOf(Type type) {
  // The tables of "Float stored in 8 bits" in ONNX's documentation.
  if (isa<Float8E4M3FNType>(type))
    return SmallFloat{4, 3, 7, -1, 0x7f, true, 0x7e};
  if (isa<Float8E4M3FNUZType>(type))
    return SmallFloat{4, 3, 8, -1, 0x80, false, 0x7f};
  if (isa<Float8E5M2Type>(type))
    return SmallFloat{5, 2, 15, 0x7c, 0x7f, true, 0x7b};
  if (isa<Float8E5M2FNUZType>(type))
    return SmallFloat{5, 2, 16, -1, 0x80, false, 0x7f};
  return std::nullopt;
}

Value ashlar::decodeSmallFloat(OpBuilder &b, Location loc, Value element,
                               const SmallFloat &f) {
  Words w(b, loc, element.getType());
  Value code = arith::ExtUIOp::create(b, loc, w.i32, element);
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

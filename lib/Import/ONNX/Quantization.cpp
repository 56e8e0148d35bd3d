// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Quantization.h"
#include "ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

Value ashlar::onnx_import::roundToQuantized(OpBuilder &b, Location loc,
                                            Value scaled, Value zeroPoint,
                                            ElementType to) {
  Type target = convertElementType(b.getContext(), to);
  unsigned width =
      isSmallInteger(to) ? packedBits(to) : target.getIntOrFloatBitWidth();
  assert(width <= 16 && "wider bounds are not exact in f32");
  FloatScalars s(b, loc, scaled.getType());
  Value x = s.make<math::RoundEvenOp>(scaled);
  if (zeroPoint) {
    Value offset =
        isUnsigned(to)
            ? arith::UIToFPOp::create(b, loc, s.type, zeroPoint).getResult()
            : arith::SIToFPOp::create(b, loc, s.type, zeroPoint).getResult();
    x = s.add(x, offset);
  }
  double low = isUnsigned(to) ? 0 : -std::ldexp(1.0, width - 1);
  double high = std::ldexp(1.0, isUnsigned(to) ? width : width - 1) - 1;
  // These bound NaN as well: converting it would be poison.
  x = s.make<arith::MaxNumFOp>(x, s.constant(low));
  x = s.make<arith::MinNumFOp>(x, s.constant(high));
  // A wider integer first: narrow conversions of unsigned numbers are slow.
  Value wide = arith::FPToSIOp::create(b, loc, b.getI32Type(), x);
  return arith::TruncIOp::create(b, loc, target, wide);
}

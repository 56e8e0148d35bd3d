// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxElements.h"

using namespace ashlar::ptx;

static double eightBits(bool isFine, uint32_t bits) {
  double sign = bits & 0x80 ? -1 : 1;
  if (!isFine)
    return double(toFloat(Half{uint16_t(bits << 8)}));
  int exponent = int(bits >> 3 & 15), mantissa = int(bits & 7);
  if (exponent == 15 && mantissa == 7)
    return NAN;
  return sign * (exponent ? std::ldexp(8 + mantissa, exponent - 10)
                          : std::ldexp(mantissa, -9));
}

double ashlar::ptx::valueOf(Element of, uint64_t bits, int at) {
  switch (of) {
  case Element::Half:
    return toFloat(Half{uint16_t(bits >> (16 * at))});
  case Element::BFloat:
    return toFloat(BFloat{uint16_t(bits >> (16 * at))});
  case Element::TF32: // the low bits do not count
    return bitsAs<float>(uint32_t(bits) & ~0x1fffu);
  case Element::S8:
    return int8_t(bits >> (8 * at));
  case Element::U8:
    return uint8_t(bits >> (8 * at));
  default:
    return eightBits(of == Element::E4M3, uint32_t(bits >> (8 * at)) & 0xff);
  }
}

Element ashlar::ptx::takeElement(Decoder &d) {
  int number =
      d.takeNextOf({"f16", "bf16", "tf32", "s8", "u8", "e4m3", "e5m2"});
  if (number < 0)
    d.fail("a type of elements that the interpreter does not know");
  return Element(number);
}

void ashlar::ptx::addSlots(Decoder &d, size_t i, size_t count, bool isResult,
                           std::vector<uint32_t> &to) {
  const Operand &of = d.operand(i);
  std::vector<Operand> alone{of};
  const auto &parts = of.kind == Operand::Vector ? of.elements : alone;
  if (parts.size() != count)
    d.fail("expected " + std::to_string(count) + " registers as operand " +
           std::to_string(i));
  for (const Operand &each : parts)
    to.push_back(isResult ? d.destination(each) : d.source(each, Type::B32));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoundFloats.h"
#include <cstring>

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// `bits` without its last `count`, rounded.
static uint32_t dropBits(uint32_t bits, unsigned count) {
  uint32_t half = uint32_t(1) << (count - 1), odd = bits >> count & 1;
  return (bits + half - 1 + odd) >> count;
}

uint16_t ashlar::roundToBFloat(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t(dropBits(bits, 16));
}

uint16_t ashlar::roundToHalf(float value) {
  uint32_t bits = bitsOf(value), magnitude = bits & 0x7fffffff;
  auto sign = uint16_t(bits >> 16 & 0x8000);
  constexpr uint32_t infinity = 0x7f800000;
  if (magnitude > infinity)
    return uint16_t(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  // From half way between the largest number and the next, on.
  constexpr uint32_t firstInfinite = 0x477ff000;
  if (magnitude >= firstInfinite)
    return uint16_t(sign | 0x7c00);
  // The exponent's bias is 127 there and 15 here.
  constexpr uint32_t smallestNormal = 0x38800000;
  if (magnitude >= smallestNormal)
    return uint16_t(sign | dropBits(magnitude - (uint32_t(112) << 23), 13));
  unsigned exponent = magnitude >> 23;
  // Less than half of the smallest denormal, 2^-24.
  if (exponent < 102)
    return sign;
  uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
  return uint16_t(sign | dropBits(fraction, 126 - exponent));
}

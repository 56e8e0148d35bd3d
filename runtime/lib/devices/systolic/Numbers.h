// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions as docs/systolic.md states them.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_NUMBERS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_NUMBERS_H

#include "RoundFloats.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ashlar::systolic {

/// The same bits.
template <typename To, typename From> To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline float fromBF16(uint16_t value) {
  return bitsAs<float>(uint32_t(value) << 16);
}

inline uint16_t toBF16(float value) { return roundToBFloat(value); }

/// Within [least, most].
inline int32_t saturate(int64_t value, int32_t least, int32_t most) {
  return value < least ? least : value > most ? most : int32_t(value);
}

/// To nearest even within [least, most]; NaN gives 0.
inline int32_t roundTo(float value, int32_t least, int32_t most) {
  if (!(value == value))
    return 0;
  if (value <= float(least))
    return least;
  // The float nearest to 2^31 - 1 is 2^31.
  if (value >= float(most))
    return most;
  return int32_t(std::nearbyint(value));
}

/// Right by `shift`, rounded to nearest even.
inline int64_t shiftRounding(int64_t value, uint32_t shift) {
  if (shift == 0)
    return value;
  int64_t unit = int64_t(1) << shift;
  int64_t floor = value >> shift, rest = value - floor * unit;
  int64_t half = unit / 2;
  return floor + (rest > half || (rest == half && (floor & 1)));
}

/// Sums modulo 2^32.
inline int32_t addWrapping(int32_t a, int32_t b) {
  return int32_t(uint32_t(a) + uint32_t(b));
}

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_NUMBERS_H

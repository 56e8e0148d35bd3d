// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding for tests, in another way than the interpreter's: among all numbers
// of a type the nearest to one of 113 bits.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXREFERENCE_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXREFERENCE_H

#include "PtxNumbers.h"

#include <limits>

namespace ashlar::ptx {

using Wide = __float128;

/// a * b, which is exact, plus c: exact, or with an odd last bit of the 113,
/// which rounds to fewer as the exact sum does.
inline Wide exactFma(double a, double b, double c) {
  Wide product = Wide(a) * Wide(b), sum = product + Wide(c);
  if (sum - sum != 0)
    return sum;
  Wide part = sum - product;
  Wide rest = (product - (sum - part)) + (Wide(c) - part);
  unsigned __int128 bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  if (rest == 0 || (bits & 1))
    return sum;
  bits += (rest > 0) == (sum > 0) ? 1 : -1;
  std::memcpy(&sum, &bits, sizeof(bits));
  return sum;
}

inline bool isNegativeWide(Wide v) { return v < 0 || (v == 0 && 1 / v < 0); }

template <class T>
T roundedTo(Wide exact, Rounding rounding = Rounding::Nearest) {
  using Limits = std::numeric_limits<T>;
  if (exact != exact)
    return Limits::quiet_NaN();
  T near = T(exact); // within one step
  if (std::isinf(near) && (exact - exact) == 0)
    near = std::copysign(Limits::max(), near);
  if (std::isinf(near))
    return near;
  T low = near, high = near;
  while (Wide(low) > exact)
    low = std::nextafter(low, -Limits::infinity());
  while (Wide(high) < exact)
    high = std::nextafter(high, Limits::infinity());
  while (high > low && Wide(std::nextafter(low, Limits::infinity())) <= exact)
    low = std::nextafter(low, Limits::infinity());
  while (high > low && Wide(std::nextafter(high, -Limits::infinity())) >= exact)
    high = std::nextafter(high, -Limits::infinity());
  if (Wide(low) == exact || Wide(high) == exact) {
    T same = Wide(low) == exact ? low : high;
    return same == 0 ? std::copysign(T(0), isNegativeWide(exact) ? T(-1) : T(1))
                     : same;
  }
  T result;
  switch (rounding) {
  case Rounding::Down:
    result = low;
    break;
  case Rounding::Up:
    result = high;
    break;
  case Rounding::Zero:
    result = exact > 0 ? low : high;
    break;
  default: {
    // One more step beyond the greatest, where a result becomes infinite.
    Wide step = Wide(Limits::max()) - Wide(std::nextafter(Limits::max(), T(0)));
    Wide above = std::isinf(high) ? Wide(Limits::max()) + step : Wide(high);
    Wide below = std::isinf(low) ? Wide(Limits::lowest()) - step : Wide(low);
    Wide middle = (above + below) / 2;
    int exponent;
    auto isEven = [&](T v) {
      if (std::isinf(v))
        return true;
      T mantissa = std::frexp(v, &exponent);
      int digits = Limits::digits;
      if (exponent < Limits::min_exponent)
        digits -= Limits::min_exponent - exponent;
      return std::fmod(std::ldexp(mantissa, digits), T(2)) == 0;
    };
    result = exact > middle   ? high
             : exact < middle ? low
             : isEven(low)    ? low
                              : high;
  }
  }
  return result == 0 ? std::copysign(T(0), exact < 0 ? T(-1) : T(1)) : result;
}

template <class T> struct Narrow;
/// Of 16 bits: the values are in order of their bits.
template <class T, int exponentBits> struct NarrowOf {
  static constexpr int mantissaBits = 15 - exponentBits;
  static constexpr uint16_t infinity =
      uint16_t(((1 << exponentBits) - 1) << mantissaBits);

  /// From its bits, by their meaning.
  static double value(uint16_t bits) {
    double sign = bits & 0x8000 ? -1 : 1;
    int exponent = (bits & 0x7fff) >> mantissaBits;
    int mantissa = bits & ((1 << mantissaBits) - 1);
    constexpr int bias = (1 << (exponentBits - 1)) - 1;
    if (exponent == (1 << exponentBits) - 1)
      return mantissa ? std::numeric_limits<double>::quiet_NaN()
                      : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0)
      return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
    return sign * std::ldexp((1 << mantissaBits) + mantissa,
                             exponent - bias - mantissaBits);
  }
  static uint16_t rounded(Wide exact, Rounding rounding) {
    if (exact != exact)
      return 0x7fff;
    uint16_t sign = isNegativeWide(exact) ? 0x8000 : 0;
    Wide size = exact < 0 ? -exact : exact;
    // The greatest that is not above.
    uint16_t low = 0, high = infinity;
    if (size - size != 0)
      return sign | infinity;
    while (high - low > 1) {
      uint16_t middle = uint16_t((low + high) / 2);
      (Wide(value(middle)) <= size ? low : high) = middle;
    }
    if (Wide(value(low)) == size)
      return sign | low;
    bool isUp = false;
    // Beyond the greatest one counts as a step more.
    Wide next = high == infinity
                    ? 2 * Wide(value(infinity - 1)) - Wide(value(infinity - 2))
                    : Wide(value(high));
    Wide middle = (Wide(value(low)) + next) / 2;
    switch (rounding) {
    case Rounding::Nearest:
      isUp = size > middle || (size == middle && (low & 1));
      break;
    case Rounding::NearestAway:
      isUp = size >= middle;
      break;
    case Rounding::Zero:
      break;
    case Rounding::Down:
      isUp = sign;
      break;
    case Rounding::Up:
      isUp = !sign;
      break;
    }
    return sign | uint16_t(low + isUp);
  }
  static uint16_t nearest(Wide exact) {
    return rounded(exact, Rounding::Nearest);
  }
};
template <> struct Narrow<Half> : NarrowOf<Half, 5> {};
template <> struct Narrow<BFloat> : NarrowOf<BFloat, 8> {};

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXREFERENCE_H

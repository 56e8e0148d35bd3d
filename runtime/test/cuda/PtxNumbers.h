// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of few bits, and rounding. Arithmetic of f16 and bf16 goes through
// f32, which has twice their digits and two more, so that rounding twice is
// rounding once; a fused multiply-add goes through f64, rounded to odd.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXNUMBERS_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXNUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ashlar::ptx {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

template <class To, class From> To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// `value` with so many bits of exponent and mantissa, as IEEE 754 has them.
template <int exponentBits, int mantissaBits>
uint32_t encode(double value, Rounding rounding) {
  constexpr int bias = (1 << (exponentBits - 1)) - 1, least = 1 - bias;
  constexpr uint32_t infinity = ((1u << exponentBits) - 1) << mantissaBits;
  uint64_t bits = bitsAs<uint64_t>(value);
  bool isNegative = bits >> 63;
  uint32_t sign = uint32_t(isNegative) << (exponentBits + mantissaBits);
  bits &= ~0ull >> 1;
  if (bits > 0x7ff0000000000000)
    return (1u << (exponentBits + mantissaBits)) - 1; // canonical, positive
  if (bits == 0x7ff0000000000000)
    return sign | infinity;
  if (bits == 0)
    return sign;
  int exponent = int(bits >> 52) - 1023;
  uint64_t mantissa = (bits & 0xfffffffffffff) | 1ull << 52;
  int shift = 52 - mantissaBits + (exponent < least ? least - exponent : 0);
  uint64_t kept = shift > 63 ? 0 : mantissa >> shift;
  uint64_t rest = shift > 63 ? 1 : mantissa & ((1ull << shift) - 1);
  uint64_t half = shift > 63 ? 2 : 1ull << (shift - 1);
  bool isUp = false;
  switch (rounding) {
  case Rounding::Nearest:
    isUp = rest > half || (rest == half && (kept & 1));
    break;
  case Rounding::NearestAway:
    isUp = rest >= half;
    break;
  case Rounding::Zero:
    break;
  case Rounding::Down:
    isUp = isNegative && rest;
    break;
  case Rounding::Up:
    isUp = !isNegative && rest;
    break;
  }
  uint64_t result = kept + isUp;
  if (exponent >= least)
    result += uint64_t(exponent - least) << mantissaBits;
  if (result >= infinity) {
    bool isFinite = rounding == Rounding::Zero ||
                    (rounding == Rounding::Down && !isNegative) ||
                    (rounding == Rounding::Up && isNegative);
    result = isFinite ? infinity - 1 : infinity;
  }
  return sign | uint32_t(result);
}

inline float toFloat(float value) { return value; }
inline float toFloat(BFloat value) {
  return bitsAs<float>(uint32_t(value.bits) << 16);
}
inline float toFloat(Half value) {
  uint32_t bits = uint32_t(value.bits & 0x7fff) << 13;
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16;
  if (bits >= 0x7c00u << 13) // infinity, NaN
    return bitsAs<float>(sign | 0x7f800000 | bits);
  float scaled = bitsAs<float>(bits) * 0x1p112f;
  return bitsAs<float>(sign | bitsAs<uint32_t>(scaled));
}

/// To nearest even; NaN becomes the canonical one.
template <class T> T fromFloat(float value);
template <> inline float fromFloat<float>(float value) { return value; }
template <> inline BFloat fromFloat<BFloat>(float value) {
  uint32_t bits = bitsAs<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {0x7fff};
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}
template <> inline Half fromFloat<Half>(float value) {
  uint32_t bits = bitsAs<uint32_t>(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return {0x7fff};
  if (bits >= 0x47800000)
    return {uint16_t(sign | 0x7c00)};
  if (bits < 0x38800000) // 0.5 has the step of f16's least numbers
    return {uint16_t(
        sign | (bitsAs<uint32_t>(bitsAs<float>(bits) + 0.5f) - 0x3f000000))};
  return {
      uint16_t(sign | (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13)};
}

template <class T> T fromDouble(double value, Rounding rounding);
template <> inline Half fromDouble<Half>(double value, Rounding rounding) {
  return {uint16_t(encode<5, 10>(value, rounding))};
}
template <> inline BFloat fromDouble<BFloat>(double value, Rounding rounding) {
  return {uint16_t(encode<8, 7>(value, rounding))};
}
template <> inline float fromDouble<float>(double value, Rounding rounding) {
  return bitsAs<float>(encode<8, 23>(value, rounding));
}
template <> inline double fromDouble<double>(double value, Rounding) {
  return value;
}

/// a * b + c, where a * b is exact in f64, as a number whose last bit is odd
/// where it is not exact: rounding it to fewer than 52 bits is right.
inline double oddFma(double a, double b, double c) {
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  uint64_t bits = bitsAs<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  // Away from zero where the error has the sum's sign, else towards it.
  bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return bitsAs<double>(bits);
}

/// A whole number as f64, odd where it is not exact.
template <class T> double oddDouble(T value) {
  bool isNegative = value < 0;
  uint64_t size = isNegative ? 0 - uint64_t(value) : uint64_t(value);
  int shift = 0;
  bool isExact = true;
  while (size >> shift > (1ull << 53) - 1)
    isExact &= !(size >> shift++ & 1);
  uint64_t kept = size >> shift;
  double result = std::ldexp(double(isExact ? kept : kept | 1), shift);
  return isNegative ? -result : result;
}

inline float canonical(float value) {
  return value == value ? value : bitsAs<float>(0x7fffffffu);
}
inline double canonical(double value) { return value; }
inline Half canonical(Half value) {
  return (value.bits & 0x7fff) > 0x7c00 ? Half{0x7fff} : value;
}
inline BFloat canonical(BFloat value) {
  return (value.bits & 0x7fff) > 0x7f80 ? BFloat{0x7fff} : value;
}

inline float flushed(float value) {
  uint32_t bits = bitsAs<uint32_t>(value);
  return bits & 0x7f800000 ? value : bitsAs<float>(bits & 0x80000000);
}
inline double flushed(double value) { return value; }
inline Half flushed(Half value) {
  return value.bits & 0x7c00 ? value : Half{uint16_t(value.bits & 0x8000)};
}
inline BFloat flushed(BFloat value) {
  return value.bits & 0x7f80 ? value : BFloat{uint16_t(value.bits & 0x8000)};
}

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXNUMBERS_H

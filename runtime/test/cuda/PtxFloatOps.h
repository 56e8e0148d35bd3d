// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of one float type, to nearest even, and the other roundings.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXFLOATOPS_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXFLOATOPS_H

#include "PtxNumbers.h"

#include <cmath>

namespace ashlar::ptx {

struct FloatAdd {
  static float of(float a, float b) { return a + b; }
  static double of(double a, double b) { return a + b; }
};
struct FloatSub {
  static float of(float a, float b) { return a - b; }
  static double of(double a, double b) { return a - b; }
};
struct FloatMul {
  static float of(float a, float b) { return a * b; }
  static double of(double a, double b) { return a * b; }
};
struct FloatDiv {
  static float of(float a, float b) { return a / b; }
  static double of(double a, double b) { return a / b; }
};
struct FloatFma {
  static float of(float a, float b, float c) { return std::fma(a, b, c); }
  static double of(double a, double b, double c) { return std::fma(a, b, c); }
};
struct FloatSqrt {
  static float of(float a) { return std::sqrt(a); }
  static double of(double a) { return std::sqrt(a); }
};
struct FloatRcp {
  static float of(float a) { return 1.0f / a; }
  static double of(double a) { return 1.0 / a; }
};

/// Compute on T, by f32 where T has 16 bits; NaN canonical.
template <class Compute> struct Plain {
  static float of(float a) { return canonical(Compute::of(a)); }
  static double of(double a) { return Compute::of(a); }
  static float of(float a, float b) { return canonical(Compute::of(a, b)); }
  static double of(double a, double b) { return Compute::of(a, b); }
  static float of(float a, float b, float c) {
    return canonical(Compute::of(a, b, c));
  }
  static double of(double a, double b, double c) {
    return Compute::of(a, b, c);
  }
  template <class T> static T of(T a, T b) {
    return fromFloat<T>(Compute::of(toFloat(a), toFloat(b)));
  }
  // Only a fused multiply-add has three.
  template <class T> static T of(T a, T b, T c) {
    return fromDouble<T>(oddFma(toFloat(a), toFloat(b), toFloat(c)),
                         Rounding::Nearest);
  }
};

template <class T> uint64_t signOf(T value) {
  return std::signbit(toFloat(value));
}
inline uint64_t signOf(double value) { return std::signbit(value); }
inline double toNumber(double value) { return value; }
template <class T> float toNumber(T value) { return toFloat(value); }

template <class T> bool isNaN(T value) {
  auto number = toNumber(value);
  return number != number;
}
template <class T> T quietNaN() { return fromFloat<T>(NAN); }
template <> inline float quietNaN<float>() {
  return bitsAs<float>(0x7fffffffu);
}
template <> inline double quietNaN<double>() {
  return bitsAs<double>(0x7fffffffffffffffull);
}

/// A NaN gives way to a number, -0 is less than +0.
template <bool isMax> struct Extreme {
  template <class T> static T of(T a, T b) {
    if (isNaN(a))
      return isNaN(b) ? quietNaN<T>() : b;
    if (isNaN(b))
      return a;
    auto x = toNumber(a), y = toNumber(b);
    bool isLess = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return isLess == isMax ? b : a;
  }
};
/// A NaN stays one.
template <bool isMax> struct ExtremeNaN {
  template <class T> static T of(T a, T b) {
    return isNaN(a) || isNaN(b) ? quietNaN<T>() : Extreme<isMax>::of(a, b);
  }
};

template <class T> struct BitsOf;
template <> struct BitsOf<float> {
  using Type = uint32_t;
};
template <> struct BitsOf<double> {
  using Type = uint64_t;
};
template <> struct BitsOf<Half> {
  using Type = uint16_t;
};
template <> struct BitsOf<BFloat> {
  using Type = uint16_t;
};
template <class T> using Raw = typename BitsOf<T>::Type;
template <class T> constexpr Raw<T> signBit = Raw<T>(1) << (8 * sizeof(T) - 1);

struct FloatNeg {
  template <class T> static T of(T a) {
    return bitsAs<T>(Raw<T>(bitsAs<Raw<T>>(a) ^ signBit<T>));
  }
};
struct FloatAbs {
  template <class T> static T of(T a) {
    return bitsAs<T>(Raw<T>(bitsAs<Raw<T>>(a) & ~signBit<T>));
  }
};

/// Into [0, 1]; NaN becomes +0.
template <class T> T saturated(T value) {
  auto number = toNumber(value);
  if (!(number > 0))
    return fromDouble<T>(0.0, Rounding::Nearest);
  return number > 1 ? fromDouble<T>(1.0, Rounding::Nearest) : value;
}
/// What is negative becomes +0; a NaN stays one.
template <class T> T rectified(T value) {
  if (isNaN(value))
    return quietNaN<T>();
  return toNumber(value) > 0 ? value : fromDouble<T>(0.0, Rounding::Nearest);
}

/// PtxRounded.cpp: with the processor's own rounding, for f32 and f64.
template <class T> T roundedSum(T a, T b, Rounding rounding);
template <class T> T roundedProduct(T a, T b, Rounding rounding);
template <class T> T roundedQuotient(T a, T b, Rounding rounding);
template <class T> T roundedFma(T a, T b, T c, Rounding rounding);
template <class T> T roundedSqrt(T a, Rounding rounding);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXFLOATOPS_H

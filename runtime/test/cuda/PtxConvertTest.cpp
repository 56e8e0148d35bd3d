// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of every pair of types and every rounding.

#include "PtxEvaluate.h"
#include "PtxReference.h"

#include <cfenv>

using namespace ashlar::ptx;

namespace {
constexpr size_t count = 1024;

const char *const toNumber[] = {"rn", "rz", "rm", "rp"};
const char *const toWhole[] = {"rni", "rzi", "rmi", "rpi"};
Rounding roundingOf(int i) { return Rounding(i); }

/// To whole numbers, saturated; a NaN as the manual has it.
template <class T> T wholeOf(Wide value, int rounding, bool isFromDouble) {
  constexpr bool isSigned = std::is_signed_v<T>;
  if (value != value)
    return isFromDouble || sizeof(T) == 8 ? T(1ull << (8 * sizeof(T) - 1)) : 0;
  Wide most = std::numeric_limits<T>::max(),
       least = std::numeric_limits<T>::min();
  if (value >= most + 1)
    return std::numeric_limits<T>::max();
  if (value <= least - 1)
    return std::numeric_limits<T>::min();
  __int128 cut = __int128(value); // towards zero
  Wide rest = value - Wide(cut);
  switch (rounding) {
  case 0:
    if (rest > 0.5 || (rest == 0.5 && (cut & 1)))
      ++cut;
    if (rest < -0.5 || (rest == -0.5 && (cut & 1)))
      --cut;
    break;
  case 2:
    cut -= rest < 0;
    break;
  case 3:
    cut += rest > 0;
    break;
  }
  (void)isSigned;
  if (Wide(cut) > most)
    return std::numeric_limits<T>::max();
  if (Wide(cut) < least)
    return std::numeric_limits<T>::min();
  return T(cut);
}

template <class T> std::string wholeName() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}

template <class T> void checkToWhole() {
  auto singles = valuesOf<float>(count);
  auto doubles = valuesOf<double>(count);
  auto halves = halvesOf(count);
  for (int r = 0; r < 4; ++r) {
    std::string line = std::string("cvt.") + toWhole[r] + "." + wholeName<T>();
    check<T>(
        line + ".f32 $d, $a;", [&](float a) { return wholeOf<T>(a, r, false); },
        singles);
    check<T>(
        line + ".f64 $d, $a;", [&](double a) { return wholeOf<T>(a, r, true); },
        doubles);
    check<T>(
        line + ".f16 $d, $a;",
        [&](uint16_t a) {
          return wholeOf<T>(Narrow<Half>::value(a), r, false);
        },
        halves);
    check<T>(
        line + ".bf16 $d, $a;",
        [&](uint16_t a) {
          return wholeOf<T>(Narrow<BFloat>::value(a), r, false);
        },
        halves);
  }
}

template <class T> void checkFromWhole() {
  auto values = valuesOf<T>(count);
  for (int r = 0; r < 4; ++r) {
    Rounding rounding = roundingOf(r);
    std::string line = std::string("cvt.") + toNumber[r] + ".";
    std::string from = "." + wholeName<T>() + " $d, $a;";
    check<float>(
        line + "f32" + from,
        [&](T a) { return roundedTo<float>(Wide(a), rounding); }, values);
    check<double>(
        line + "f64" + from,
        [&](T a) { return roundedTo<double>(Wide(a), rounding); }, values);
    check<uint16_t>(
        line + "f16" + from,
        [&](T a) { return Narrow<Half>::rounded(Wide(a), rounding); }, values);
    check<uint16_t>(
        line + "bf16" + from,
        [&](T a) { return Narrow<BFloat>::rounded(Wide(a), rounding); },
        values);
  }
}

TEST(PtxConvert, FloatsToWholeNumbers) {
  checkToWhole<uint16_t>();
  checkToWhole<int16_t>();
  checkToWhole<uint32_t>();
  checkToWhole<int32_t>();
  checkToWhole<uint64_t>();
  checkToWhole<int64_t>();
}

TEST(PtxConvert, WholeNumbersToFloats) {
  checkFromWhole<uint16_t>();
  checkFromWhole<int16_t>();
  checkFromWhole<uint32_t>();
  checkFromWhole<int32_t>();
  checkFromWhole<uint64_t>();
  checkFromWhole<int64_t>();
}

TEST(PtxConvert, FloatsToFloats) {
  auto singles = valuesOf<float>(4096);
  auto doubles = valuesOf<double>(4096);
  // Near f16's and bf16's range, and its middles.
  for (size_t i = 0; i < singles.size(); i += 3)
    singles[i] = bitsAs<float>(uint32_t(generator()() & 0x87ffe000) +
                               0x38000000u + 0x1000u);
  auto halves = halvesOf(4096);
  for (int r = 0; r < 4; ++r) {
    Rounding rounding = roundingOf(r);
    std::string line = std::string("cvt.") + toNumber[r] + ".";
    check<float>(
        line + "f32.f64 $d, $a;",
        [&](double a) { return roundedTo<float>(a, rounding); }, doubles);
    check<uint16_t>(
        line + "f16.f32 $d, $a;",
        [&](float a) { return Narrow<Half>::rounded(a, rounding); }, singles);
    check<uint16_t>(
        line + "f16.f64 $d, $a;",
        [&](double a) { return Narrow<Half>::rounded(a, rounding); }, doubles);
    check<uint16_t>(
        line + "bf16.f32 $d, $a;",
        [&](float a) { return Narrow<BFloat>::rounded(a, rounding); }, singles);
    if (r < 2)
      check<uint32_t>(
          line + "bf16x2.f32 $d, $a, $b;",
          [&](float a, float b) {
            return uint32_t(Narrow<BFloat>::rounded(a, rounding)) << 16 |
                   Narrow<BFloat>::rounded(b, rounding);
          },
          singles, std::vector<float>(singles.rbegin(), singles.rend()));
  }
  check<float>(
      "cvt.f32.f16 $d, $a;", [](uint16_t a) { return Narrow<Half>::value(a); },
      halves);
  check<float>(
      "cvt.f32.bf16 $d, $a;",
      [](uint16_t a) { return Narrow<BFloat>::value(a); }, halves);
  check<double>(
      "cvt.f64.f16 $d, $a;", [](uint16_t a) { return Narrow<Half>::value(a); },
      halves);
  check<double>(
      "cvt.f64.f32 $d, $a;", [](float a) { return double(a); }, singles);
  check<float>(
      "cvt.rni.f32.f32 $d, $a;", [](float a) { return std::nearbyint(a); },
      singles);
  check<float>(
      "cvt.rzi.f32.f32 $d, $a;", [](float a) { return std::trunc(a); },
      singles);
  check<float>(
      "cvt.rmi.f32.f32 $d, $a;", [](float a) { return std::floor(a); },
      singles);
  check<double>(
      "cvt.rpi.f64.f64 $d, $a;", [](double a) { return std::ceil(a); },
      doubles);
  check<float>(
      "cvt.sat.f32.f32 $d, $a;",
      [](float a) { return a > 0 ? a < 1 ? a : 1.0f : 0.0f; }, singles);
  check<uint16_t>(
      "cvt.rn.relu.f16.f32 $d, $a;",
      [](float a) {
        return a != a  ? uint16_t(0x7fff)
               : a > 0 ? Narrow<Half>::nearest(a)
                       : uint16_t(0);
      },
      singles);
  // tf32 keeps ten bits; away from zero in the middle.
  check<uint32_t>(
      "cvt.rna.tf32.f32 $d, $a;",
      [](float a) {
        uint32_t bits = bitsAs<uint32_t>(a);
        if (a != a)
          return 0x7fffe000u;
        if (std::isinf(a))
          return bits;
        return (bits + 0x1000) & ~0x1fffu;
      },
      singles);
}

TEST(PtxConvert, WholeNumbersToWholeNumbers) {
  auto wide = valuesOf<int64_t>(count);
  auto words = valuesOf<int32_t>(count);
  check<int64_t>(
      "cvt.s64.s32 $d, $a;", [](int32_t a) { return int64_t(a); }, words);
  check<uint64_t>(
      "cvt.u64.u32 $d, $a;", [](int32_t a) { return uint32_t(a); }, words);
  check<int32_t>(
      "cvt.s32.s8 $d, $a;", [](int32_t a) { return int8_t(a); }, words);
  check<int32_t>(
      "cvt.u32.u8 $d, $a;", [](int32_t a) { return uint8_t(a); }, words);
  check<int64_t>(
      "cvt.s64.s16 $d, $a;", [](int32_t a) { return int16_t(a); }, words);
  check<int32_t>(
      "cvt.u32.u64 $d, $a;", [](int64_t a) { return int32_t(a); }, wide);
  check<int32_t>(
      "cvt.sat.s32.s64 $d, $a;",
      [](int64_t a) {
        return std::max<int64_t>(std::min<int64_t>(a, INT32_MAX), INT32_MIN);
      },
      wide);
  check<uint32_t>(
      "cvt.sat.u8.s32 $d, $a;",
      [](int32_t a) { return std::max(std::min(a, 255), 0); }, words);
  check<uint32_t>(
      "cvt.sat.u32.s64 $d, $a;",
      [](int64_t a) {
        return std::max<int64_t>(std::min<int64_t>(a, UINT32_MAX), 0);
      },
      wide);
}

/// All numbers of 8 bits, by their meaning.
double eight(bool isFine, int bits) {
  int m = isFine ? 3 : 2, bias = isFine ? 7 : 15;
  double sign = bits & 0x80 ? -1 : 1;
  int exponent = (bits & 0x7f) >> m, mantissa = bits & ((1 << m) - 1);
  if (isFine ? (bits & 0x7f) == 0x7f : exponent == 31 && mantissa)
    return NAN;
  if (!isFine && exponent == 31)
    return sign * INFINITY;
  return exponent ? sign * std::ldexp((1 << m) + mantissa, exponent - bias - m)
                  : sign * std::ldexp(mantissa, 1 - bias - m);
}

TEST(PtxConvert, EightBits) {
  for (bool isFine : {true, false}) {
    std::string type = isFine ? "e4m3x2" : "e5m2x2";
    std::vector<uint16_t> all(256);
    for (int i = 0; i < 256; ++i)
      all[i] = uint16_t(i | (255 - i) << 8);
    auto halves = evaluate<uint32_t>("cvt.rn.f16x2." + type + " $d, $a;", all);
    for (int i = 0; i < 256; ++i) {
      double low = Narrow<Half>::value(uint16_t(halves[i])),
             expected = eight(isFine, i);
      EXPECT_TRUE(low == expected || (low != low && expected != expected)) << i;
    }
    auto a = valuesOf<float>(4096), b = valuesOf<float>(4096);
    for (size_t i = 0; i < a.size(); i += 2) // middles
      a[i] = float(eight(isFine, int(generator()() % 0x7e))) * 1.0f +
             float(eight(isFine, 1)) / 2;
    auto got = evaluate<uint16_t>(
        "cvt.rn.satfinite." + type + ".f32 $d, $a, $b;", a, b);
    double most = isFine ? 448 : 57344;
    for (size_t i = 0; i < a.size(); ++i) {
      double high = eight(isFine, got[i] >> 8);
      if (a[i] != a[i]) {
        EXPECT_TRUE(high != high);
        continue;
      }
      // Nothing is nearer, and in the middle the even one is it.
      double value = std::max(-most, std::min<double>(most, a[i]));
      double distance = std::fabs(high - value);
      for (int k = 0; k < 256; ++k) {
        double other = eight(isFine, k);
        if (!std::isfinite(other))
          continue;
        EXPECT_GE(std::fabs(other - value), distance) << a[i];
        if (other != high && std::fabs(other - value) == distance)
          EXPECT_EQ(got[i] >> 8 & 1, 0) << a[i];
      }
      if (HasFailure())
        break;
    }
  }
}

TEST(PtxConvert, PackedWholeNumbers) {
  auto a = valuesOf<int32_t>(count), b = valuesOf<int32_t>(count),
       c = valuesOf<int32_t>(count);
  check<uint32_t>(
      "cvt.pack.sat.s8.s32.b32 $d, $a, $b, $c;",
      [](int32_t a, int32_t b, int32_t c) {
        auto cut = [](int32_t v) {
          return uint8_t(std::max(std::min(v, 127), -128));
        };
        return uint32_t(c) << 16 | uint32_t(cut(a)) << 8 | cut(b);
      },
      a, b, c);
}

} // namespace

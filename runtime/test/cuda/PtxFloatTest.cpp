// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats beside arithmetic of 113 bits, rounded by looking for the nearest.

#include "PtxEvaluate.h"
#include "PtxReference.h"

using namespace ashlar::ptx;

namespace {
constexpr size_t count = 2048;

TEST(PtxFloat, SingleArithmetic) {
  auto a = valuesOf<float>(count), b = valuesOf<float>(count),
       c = valuesOf<float>(count);
  check<float>(
      "add.f32 $d, $a, $b;", [](float a, float b) { return a + b; }, a, b);
  check<float>(
      "sub.rn.f32 $d, $a, $b;", [](float a, float b) { return a - b; }, a, b);
  check<float>(
      "mul.f32 $d, $a, $b;", [](float a, float b) { return a * b; }, a, b);
  check<float>(
      "div.rn.f32 $d, $a, $b;", [](float a, float b) { return a / b; }, a, b);
  check<float>("sqrt.rn.f32 $d, $a;", [](float a) { return std::sqrt(a); }, a);
  check<float>("rcp.rn.f32 $d, $a;", [](float a) { return 1 / a; }, a);
  check<uint32_t>(
      "neg.f32 $d, $a;",
      [](float a) { return bitsAs<uint32_t>(a) ^ 0x80000000; }, a);
  check<uint32_t>(
      "abs.f32 $d, $a;",
      [](float a) { return bitsAs<uint32_t>(a) & 0x7fffffff; }, a);
  check<float>(
      "fma.rn.f32 $d, $a, $b, $c;",
      [](float a, float b, float c) {
        return roundedTo<float>(exactFma(a, b, c));
      },
      a, b, c);
  check<float>(
      "fma.rz.f32 $d, $a, $b, $c;",
      [](float a, float b, float c) {
        return roundedTo<float>(exactFma(a, b, c), Rounding::Zero);
      },
      a, b, c);
  check<float>(
      "add.rm.f32 $d, $a, $b;",
      [](float a, float b) {
        // IEEE 754: downwards a difference of zero is -0.
        if (a == -b && std::isfinite(a))
          return a == 0 && !std::signbit(a) && !std::signbit(b) ? 0.0f : -0.0f;
        return roundedTo<float>(exactFma(a, 1, b), Rounding::Down);
      },
      a, b);
  check<float>(
      "mul.rp.f32 $d, $a, $b;",
      [](float a, float b) {
        return roundedTo<float>(exactFma(a, b, -0.0f), Rounding::Up);
      },
      a, b);
  // A NaN that comes out is the one that the manual names.
  auto nan = evaluate<uint32_t>("sub.f32 $d, $a, $a;",
                                std::vector<float>(256, INFINITY));
  EXPECT_EQ(nan[0], 0x7fffffffu);
}

/// Chips of 10.0 and later.
class PtxLaterFloat : public ::testing::Test {
protected:
  void SetUp() override { targetOfRun() = "sm_100a"; }
  void TearDown() override { targetOfRun() = "sm_90"; }

  /// Of both halves of a register.
  template <class Compute> static auto both(Compute compute) {
    return [compute](auto... all) {
      auto half = [](uint64_t bits, int i) {
        return bitsAs<float>(uint32_t(bits >> 32 * i));
      };
      uint64_t result = 0;
      for (int i : {0, 1}) {
        float one = compute(half(all, i)...);
        // Any NaN is as good as the one that the manual names.
        uint32_t bits = one != one ? 0x7fffffffu : bitsAs<uint32_t>(one);
        result |= uint64_t(bits) << 32 * i;
      }
      return result;
    };
  }
  static std::vector<uint64_t> pairs() {
    auto low = valuesOf<float>(count), high = valuesOf<float>(count);
    std::vector<uint64_t> all(count);
    for (size_t i = 0; i != count; ++i)
      all[i] = bitsAs<uint32_t>(low[i]) | uint64_t(bitsAs<uint32_t>(high[i]))
                                              << 32;
    return all;
  }
};

TEST_F(PtxLaterFloat, TwoInARegister) {
  auto a = pairs(), b = pairs(), c = pairs();
  check<uint64_t>("add.rn.f32x2 $d, $a, $b;",
                  both([](float a, float b) { return a + b; }), a, b);
  check<uint64_t>("sub.f32x2 $d, $a, $b;",
                  both([](float a, float b) { return a - b; }), a, b);
  check<uint64_t>("mul.rn.f32x2 $d, $a, $b;",
                  both([](float a, float b) { return a * b; }), a, b);
  check<uint64_t>("fma.rn.f32x2 $d, $a, $b, $c;",
                  both([](float a, float b, float c) {
                    return roundedTo<float>(exactFma(a, b, c));
                  }),
                  a, b, c);
  check<uint64_t>("fma.rz.f32x2 $d, $a, $b, $c;",
                  both([](float a, float b, float c) {
                    return roundedTo<float>(exactFma(a, b, c), Rounding::Zero);
                  }),
                  a, b, c);
}

TEST_F(PtxLaterFloat, SumsOf16And32Bits) {
  auto a = halvesOf(count), b = halvesOf(count);
  auto c = valuesOf<float>(count);
  auto wide = [](uint16_t bits) { return bitsAs<float>(uint32_t(bits) << 16); };
  check<float>(
      "add.rn.f32.bf16 $d, $a, $b;",
      [&](uint16_t a, float c) { return wide(a) + c; }, a, c);
  check<float>(
      "sub.rn.f32.bf16 $d, $a, $b;",
      [&](uint16_t a, float c) { return wide(a) - c; }, a, c);
  check<float>(
      "fma.rn.f32.bf16 $d, $a, $b, $c;",
      [&](uint16_t a, uint16_t b, float c) {
        return roundedTo<float>(exactFma(wide(a), wide(b), c));
      },
      a, b, c);
  // 1.5 of f16, and all of them by it.
  check<float>(
      "mov.b16 %rs40, 0x3e00;\nadd.rn.f32.f16 $d, %rs40, $a;",
      [](float c) { return 1.5f + c; }, c);
}

TEST(PtxFloat, EarlierChipsHaveNoPairsOf32Bits) {
  EXPECT_THROW(Bench(kernelText(0, "add.rn.f32x2 %rd10, %rd11, %rd12;")),
               std::exception);
  EXPECT_THROW(Bench(kernelText(0, "add.rn.f32.bf16 %f10, %rs11, %f12;")),
               std::exception);
}

TEST(PtxFloat, FlushingAndSaturation) {
  auto a = valuesOf<float>(count), b = valuesOf<float>(count);
  auto flush = [](float v) {
    return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
  };
  check<float>(
      "add.ftz.f32 $d, $a, $b;",
      [&](float a, float b) { return flush(flush(a) + flush(b)); }, a, b);
  check<float>(
      "mul.ftz.f32 $d, $a, $b;",
      [&](float a, float b) { return flush(flush(a) * flush(b)); }, a, b);
  auto saturate = [](float v) { return v > 0 ? v < 1 ? v : 1.0f : 0.0f; };
  check<float>(
      "mul.sat.f32 $d, $a, $b;",
      [&](float a, float b) { return saturate(a * b); }, a, b);
  check<float>(
      "add.ftz.sat.f32 $d, $a, $b;",
      [&](float a, float b) { return saturate(flush(flush(a) + flush(b))); }, a,
      b);
}

template <class T> T least(T a, T b) {
  if (a != a)
    return b;
  if (b != b)
    return a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T> T greatest(T a, T b) { return -least(-a, -b); }

TEST(PtxFloat, MinimaAndMaxima) {
  auto a = valuesOf<float>(count), b = valuesOf<float>(count);
  check<float>("min.f32 $d, $a, $b;", least<float>, a, b);
  check<float>("max.f32 $d, $a, $b;", greatest<float>, a, b);
  auto isNaN = [](float a, float b) { return a != a || b != b; };
  check<float>(
      "min.NaN.f32 $d, $a, $b;",
      [&](float a, float b) { return isNaN(a, b) ? NAN : least(a, b); }, a, b);
  check<float>(
      "max.NaN.f32 $d, $a, $b;",
      [&](float a, float b) { return isNaN(a, b) ? NAN : greatest(a, b); }, a,
      b);
  check<float>(
      "max.xorsign.abs.f32 $d, $a, $b;",
      [&](float a, float b) {
        float size = greatest(std::fabs(a), std::fabs(b));
        return std::signbit(a) != std::signbit(b) ? -size : size;
      },
      a, b);
  auto x = valuesOf<double>(count), y = valuesOf<double>(count);
  check<double>("min.f64 $d, $a, $b;", least<double>, x, y);
  check<double>("max.f64 $d, $a, $b;", greatest<double>, x, y);
}

TEST(PtxFloat, DoubleArithmetic) {
  auto a = valuesOf<double>(count), b = valuesOf<double>(count),
       c = valuesOf<double>(count);
  check<double>(
      "add.rn.f64 $d, $a, $b;", [](double a, double b) { return a + b; }, a, b);
  check<double>(
      "mul.rn.f64 $d, $a, $b;", [](double a, double b) { return a * b; }, a, b);
  check<double>(
      "div.rn.f64 $d, $a, $b;", [](double a, double b) { return a / b; }, a, b);
  check<double>(
      "fma.rn.f64 $d, $a, $b, $c;",
      [](double a, double b, double c) { return std::fma(a, b, c); }, a, b, c);
  check<double>(
      "sqrt.rn.f64 $d, $a;", [](double a) { return std::sqrt(a); }, a);
}

template <class T> void checkNarrow(const std::string &type) {
  auto a = halvesOf(count), b = halvesOf(count), c = halvesOf(count);
  auto of = [](uint16_t bits) { return double(Narrow<T>::value(bits)); };
  auto back = [](Wide value) { return Narrow<T>::nearest(value); };
  check<uint16_t>(
      "add.rn." + type + " $d, $a, $b;",
      [&](uint16_t a, uint16_t b) { return back(exactFma(of(a), 1, of(b))); },
      a, b);
  check<uint16_t>(
      "sub." + type + " $d, $a, $b;",
      [&](uint16_t a, uint16_t b) { return back(exactFma(of(a), 1, -of(b))); },
      a, b);
  check<uint16_t>(
      "mul." + type + " $d, $a, $b;",
      [&](uint16_t a, uint16_t b) {
        return back(exactFma(of(a), of(b), -0.0));
      },
      a, b);
  check<uint16_t>(
      "fma.rn." + type + " $d, $a, $b, $c;",
      [&](uint16_t a, uint16_t b, uint16_t c) {
        return back(exactFma(of(a), of(b), of(c)));
      },
      a, b, c);
  check<uint16_t>(
      "fma.rn.relu." + type + " $d, $a, $b, $c;",
      [&](uint16_t a, uint16_t b, uint16_t c) {
        uint16_t r = back(exactFma(of(a), of(b), of(c)));
        return of(r) != of(r) || of(r) > 0 ? r : uint16_t(0);
      },
      a, b, c);
  check<uint16_t>(
      "max." + type + " $d, $a, $b;",
      [&](uint16_t a, uint16_t b) {
        return back(Wide(greatest(of(a), of(b))));
      },
      a, b);
  check<uint16_t>(
      "min.NaN." + type + " $d, $a, $b;",
      [&](uint16_t a, uint16_t b) {
        return of(a) != of(a) || of(b) != of(b)
                   ? uint16_t(0x7fff)
                   : back(Wide(least(of(a), of(b))));
      },
      a, b);
  check<uint32_t>(
      "setp.ltu." + type +
          " %p10, $a, $b;\n"
          "selp.u32 $d, 1, 0, %p10;",
      [&](uint16_t a, uint16_t b) { return !(of(a) >= of(b)); }, a, b);
  // Two at once.
  std::vector<uint32_t> aa(count / 2), bb(count / 2), cc(count / 2);
  std::memcpy(aa.data(), a.data(), 2 * count);
  std::memcpy(bb.data(), b.data(), 2 * count);
  std::memcpy(cc.data(), c.data(), 2 * count);
  check<uint32_t>(
      "fma.rn." + type + "x2 $d, $a, $b, $c;",
      [&](uint32_t a, uint32_t b, uint32_t c) {
        auto at = [&](int s) {
          return uint32_t(
              back(exactFma(of(uint16_t(a >> s)), of(uint16_t(b >> s)),
                            of(uint16_t(c >> s)))));
        };
        return at(0) | at(16) << 16;
      },
      aa, bb, cc);
}

TEST(PtxFloat, HalfArithmetic) { checkNarrow<Half>("f16"); }
TEST(PtxFloat, BFloatArithmetic) { checkNarrow<BFloat>("bf16"); }

TEST(PtxFloat, Comparisons) {
  auto a = valuesOf<float>(count), b = valuesOf<float>(count);
  auto compare = [&](const char *relation, auto reference) {
    check<uint32_t>(std::string("setp.") + relation +
                        ".f32 %p10, $a, $b;\nselp.u32 $d, 1, 0, %p10;",
                    reference, a, b);
  };
  auto isNaN = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
  compare("eq", [](float a, float b) { return a == b; });
  compare("ne", [&](float a, float b) { return !isNaN(a, b) && a != b; });
  compare("lt", [](float a, float b) { return a < b; });
  compare("ge", [](float a, float b) { return a >= b; });
  compare("equ", [&](float a, float b) { return isNaN(a, b) || a == b; });
  compare("neu", [&](float a, float b) { return isNaN(a, b) || a != b; });
  compare("leu", [&](float a, float b) { return isNaN(a, b) || a <= b; });
  compare("gtu", [&](float a, float b) { return isNaN(a, b) || a > b; });
  compare("num", [&](float a, float b) { return !isNaN(a, b); });
  compare("nan", isNaN);
  check<uint32_t>(
      "testp.infinite.f32 %p10, $a;\nselp.u32 $d, 1, 0, %p10;",
      [](float a) { return std::isinf(a); }, a);
  check<uint32_t>(
      "testp.subnormal.f32 %p10, $a;\nselp.u32 $d, 1, 0, %p10;",
      [](float a) { return std::fpclassify(a) == FP_SUBNORMAL; }, a);
  check<float>(
      "copysign.f32 $d, $a, $b;",
      [](float a, float b) { return std::copysign(b, a); }, a, b);
}

TEST(PtxFloat, ApproximationsAreCloseAndTheirEndsExact) {
  auto a = valuesOf<float>(count);
  auto close = [&](const char *line, double (*function)(double)) {
    auto got = evaluate<float>(line, a);
    for (size_t i = 0; i < count; ++i) {
      float expected = float(function(a[i]));
      if (expected != expected)
        EXPECT_TRUE(got[i] != got[i]) << line << a[i];
      else
        EXPECT_FLOAT_EQ(got[i], expected) << line << a[i];
    }
  };
  close("ex2.approx.f32 $d, $a;", std::exp2);
  close("lg2.approx.f32 $d, $a;", std::log2);
  close("tanh.approx.f32 $d, $a;", std::tanh);
  close("sqrt.approx.f32 $d, $a;", std::sqrt);
  close("rsqrt.approx.f32 $d, $a;", [](double v) { return 1 / std::sqrt(v); });
  close("rcp.approx.f32 $d, $a;", [](double v) { return 1 / v; });
  std::vector<float> big(256, 0x1.8p126f);
  EXPECT_EQ(evaluate<float>("div.approx.f32 $d, $a, $b;", big, big)[0], 0.0f);
  EXPECT_EQ(evaluate<float>("div.full.f32 $d, $a, $b;", big, big)[0], 1.0f);
}

} // namespace

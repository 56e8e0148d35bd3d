// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole numbers and bits, beside plain C++.

#include "PtxEvaluate.h"

#include <algorithm>

using namespace ashlar::ptx;

namespace {
constexpr size_t count = 2048;

/// Holds products of T.
template <class T>
using Wider =
    std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <class T> class PtxWhole : public ::testing::Test {
protected:
  static constexpr bool isSigned = std::is_signed_v<T>;
  static constexpr int bits = 8 * sizeof(T);
  static std::string type() {
    return (isSigned ? ".s" : ".u") + std::to_string(bits);
  }
  static std::string raw() { return ".b" + std::to_string(bits); }
  using U = std::make_unsigned_t<T>;
  std::vector<T> a = valuesOf<T>(count), b = valuesOf<T>(count),
                 c = valuesOf<T>(count);
};
using Types =
    ::testing::Types<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>;
TYPED_TEST_SUITE(PtxWhole, Types);

TYPED_TEST(PtxWhole, Arithmetic) {
  using T = TypeParam;
  using U = typename TestFixture::U;
  std::string type = this->type(), operands = " $d, $a, $b;";
  auto two = [&](const std::string &op, auto reference) {
    check<T>(op + type + operands, reference, this->a, this->b);
  };
  two("add", [](T a, T b) { return T(U(U(a) + U(b))); });
  two("sub", [](T a, T b) { return T(U(U(a) - U(b))); });
  two("mul.lo", [](T a, T b) { return T(U(uint64_t(a) * uint64_t(b))); });
  two("mul.hi", [](T a, T b) {
    return T((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T)));
  });
  two("min", [](T a, T b) { return b < a ? b : a; });
  two("max", [](T a, T b) { return a < b ? b : a; });
  two("div",
      [](T a, T b) { return b == 0 ? T(-1) : T(__int128(a) / __int128(b)); });
  two("rem",
      [](T a, T b) { return b == 0 ? a : T(__int128(a) % __int128(b)); });
  check<T>(
      "mad.lo" + type + " $d, $a, $b, $c;",
      [](T a, T b, T c) {
        return T(U(uint64_t(a) * uint64_t(b) + uint64_t(c)));
      },
      this->a, this->b, this->c);
  check<T>(
      "mad.hi" + type + " $d, $a, $b, $c;",
      [](T a, T b, T c) {
        return T(U(U((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T))) + U(c)));
      },
      this->a, this->b, this->c);
  if (this->isSigned) {
    check<T>(
        "neg" + type + " $d, $a;", [](T a) { return T(U(0) - U(a)); }, this->a);
    check<T>(
        "abs" + type + " $d, $a;",
        [](T a) { return a < 0 ? T(U(0) - U(a)) : a; }, this->a);
  }
}

TYPED_TEST(PtxWhole, Comparisons) {
  using T = TypeParam;
  auto compare = [&](const char *relation, auto reference) {
    check<uint32_t>(std::string("setp.") + relation + this->type() +
                        " %p10, $a, $b;\nselp.u32 $d, 1, 0, %p10;",
                    reference, this->a, this->b);
  };
  compare("eq", [](T a, T b) { return a == b; });
  compare("ne", [](T a, T b) { return a != b; });
  compare("lt", [](T a, T b) { return a < b; });
  compare("le", [](T a, T b) { return a <= b; });
  compare("gt", [](T a, T b) { return a > b; });
  compare("ge", [](T a, T b) { return a >= b; });
  check<uint32_t>(
      "setp.lt" + this->type() + " %p9, $b, $c;\nsetp.gt.xor" + this->type() +
          " %p10|%p11, $a, $b, !%p9;\nselp.u32 $d, 1, 0, %p10;\n"
          "@%p11 add.u32 $d, $d, 2;",
      [](T a, T b, T c) {
        bool with = !(b < c);
        return uint32_t((a > b) != with) | uint32_t(!(a > b) != with) << 1;
      },
      this->a, this->b, this->c);
  check<uint32_t>(
      "set.le.u32" + this->type() + " $d, $a, $b;",
      [](T a, T b) { return a <= b ? ~0u : 0u; }, this->a, this->b);
}

TYPED_TEST(PtxWhole, Shifts) {
  using T = TypeParam;
  using U = typename TestFixture::U;
  std::vector<uint32_t> by(count);
  for (size_t i = 0; i < count; ++i)
    by[i] = i % 5 == 0 ? uint32_t(generator()()) : uint32_t(generator()() % 70);
  check<T>(
      "shl" + this->raw() + " $d, $a, $b;",
      [](T a, uint32_t by) {
        return by >= 8 * sizeof(T) ? T(0) : T(U(U(a) << by));
      },
      this->a, by);
  check<T>(
      "shr" + this->type() + " $d, $a, $b;",
      [](T a, uint32_t by) {
        return T(__int128(a) >> std::min<uint32_t>(by, 100));
      },
      this->a, by);
  check<T>(
      "and" + this->raw() + " $d, $a, $b;", [](T a, T b) { return a & b; },
      this->a, this->b);
  check<T>(
      "or" + this->raw() + " $d, $a, $b;", [](T a, T b) { return a | b; },
      this->a, this->b);
  check<T>(
      "xor" + this->raw() + " $d, $a, $b;", [](T a, T b) { return a ^ b; },
      this->a, this->b);
  check<T>(
      "not" + this->raw() + " $d, $a;", [](T a) { return T(~a); }, this->a);
  check<T>(
      "cnot" + this->raw() + " $d, $a;", [](T a) { return a == 0; }, this->a);
}

template <class T> void checkFields(const std::string &type) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t width = 8 * sizeof(T);
  auto a = valuesOf<T>(count), b = valuesOf<T>(count);
  std::vector<uint32_t> at(count), length(count);
  for (size_t i = 0; i < count; ++i) {
    at[i] = uint32_t(generator()() % (width + 6));
    length[i] = uint32_t(generator()() % (width + 6));
  }
  // By the manual's words: bits beyond the top are the sign's, or zero.
  check<T>(
      "bfe" + type + " $d, $a, $b, $c;",
      [&](T a, uint32_t at, uint32_t length) {
        unsigned __int128 wide = (unsigned __int128)(__int128(a));
        if (length == 0)
          return T(0);
        wide >>= std::min(at, 127u);
        unsigned __int128 mask = length >= 127
                                     ? ~(unsigned __int128)(0)
                                     : ((unsigned __int128)(1) << length) - 1;
        U field = U(wide & mask);
        uint32_t top = std::min(at + length - 1, width - 1);
        bool isNegative = std::is_signed_v<T> && (U(a) >> top & 1);
        uint32_t kept = at >= width ? 0 : std::min(length, width - at);
        for (uint32_t k = kept; k < width; ++k)
          field = U((field & ~(U(1) << k)) | (U(isNegative) << k));
        return T(field);
      },
      a, at, length);
}

TEST(PtxBits, Fields) {
  checkFields<uint32_t>(".u32");
  checkFields<int32_t>(".s32");
  checkFields<uint64_t>(".u64");
  checkFields<int64_t>(".s64");
  auto a = valuesOf<uint32_t>(count), b = valuesOf<uint32_t>(count);
  check<uint32_t>(
      "bfi.b32 $d, $a, $b, 5, 11;",
      [](uint32_t a, uint32_t b) {
        uint32_t mask = 0x7ff << 5;
        return (b & ~mask) | (a << 5 & mask);
      },
      a, b);
  check<uint32_t>(
      "bfi.b32 $d, $a, $b, 28, 11;",
      [](uint32_t a, uint32_t b) { return (b & 0x0fffffff) | a << 28; }, a, b);
}

TEST(PtxBits, Counts) {
  auto a = valuesOf<uint32_t>(count);
  auto wide = valuesOf<uint64_t>(count);
  auto top = [](uint64_t v) {
    int at = -1;
    for (; v; v >>= 1)
      ++at;
    return at;
  };
  check<uint32_t>(
      "popc.b32 $d, $a;",
      [](uint32_t a) {
        int n = 0;
        for (; a; a &= a - 1)
          ++n;
        return n;
      },
      a);
  check<uint32_t>(
      "popc.b64 $d, $a;",
      [](uint64_t a) {
        int n = 0;
        for (; a; a &= a - 1)
          ++n;
        return n;
      },
      wide);
  check<uint32_t>(
      "clz.b32 $d, $a;", [&](uint32_t a) { return 31 - top(a); }, a);
  check<uint32_t>(
      "clz.b64 $d, $a;", [&](uint64_t a) { return 63 - top(a); }, wide);
  check<uint32_t>("bfind.u32 $d, $a;", [&](uint32_t a) { return top(a); }, a);
  check<uint32_t>(
      "bfind.shiftamt.s32 $d, $a;",
      [&](uint32_t a) {
        int at = top(int32_t(a) < 0 ? ~a : a);
        return at < 0 ? -1 : 31 - at;
      },
      a);
  check<uint32_t>(
      "brev.b32 $d, $a;",
      [](uint32_t a) {
        uint32_t out = 0;
        for (int i = 0; i < 32; ++i)
          out = out << 1 | (a >> i & 1);
        return out;
      },
      a);
}

TEST(PtxBits, Permutations) {
  auto a = valuesOf<uint32_t>(count), b = valuesOf<uint32_t>(count),
       c = valuesOf<uint32_t>(count);
  check<uint32_t>(
      "prmt.b32 $d, $a, $b, $c;",
      [](uint32_t a, uint32_t b, uint32_t c) {
        uint8_t bytes[8];
        std::memcpy(bytes, &a, 4);
        std::memcpy(bytes + 4, &b, 4);
        uint32_t out = 0;
        for (int i = 3; i >= 0; --i) {
          uint32_t pick = c >> 4 * i & 15;
          int8_t byte = int8_t(bytes[pick % 8]);
          out = out << 8 | uint8_t(pick < 8 ? byte : byte >> 7);
        }
        return out;
      },
      a, b, c);
  check<uint32_t>(
      "prmt.b32.f4e $d, $a, $b, 3;",
      [](uint32_t a, uint32_t b) { return a >> 24 | b << 8; }, a, b);
  check<uint32_t>(
      "lop3.b32 $d, $a, $b, $c, 0xca;",
      [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }, a,
      b, c);
  check<uint32_t>(
      "shf.l.wrap.b32 $d, $a, $b, $c;",
      [](uint32_t a, uint32_t b, uint32_t c) {
        return c % 32 ? b << c % 32 | a >> (32 - c % 32) : b;
      },
      a, b, c);
  check<uint32_t>(
      "shf.r.clamp.b32 $d, $a, $b, $c;",
      [](uint32_t a, uint32_t b, uint32_t c) {
        return c >= 32 ? b : c ? a >> c | b << (32 - c) : a;
      },
      a, b, c);
  check<uint32_t>(
      "dp4a.s32.u32 $d, $a, $b, $c;",
      [](uint32_t a, uint32_t b, uint32_t c) {
        for (int i = 0; i < 32; i += 8)
          c += uint32_t(int8_t(a >> i) * int(uint8_t(b >> i)));
        return c;
      },
      a, b, c);
  check<int32_t>(
      "add.sat.s32 $d, $a, $b;",
      [](uint32_t a, uint32_t b) {
        int64_t sum = int64_t(int32_t(a)) + int32_t(b);
        return std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      },
      a, b);
  check<uint64_t>(
      "mul.wide.s32 $d, $a, $b;",
      [](uint32_t a, uint32_t b) { return int64_t(int32_t(a)) * int32_t(b); },
      a, b);
  check<uint64_t>(
      "mov.b64 $d, {$a, $b};\nmov.b64 {%r40, %r41}, $d;\n"
      "mov.b64 $d, {%r41, %r40};",
      [](uint32_t a, uint32_t b) { return uint64_t(a) << 32 | b; }, a, b);
  check<uint32_t>(
      "min.s16x2 $d, $a, $b;",
      [](uint32_t a, uint32_t b) {
        uint32_t low = uint16_t(std::min(int16_t(a), int16_t(b)));
        return low |
               uint32_t(uint16_t(std::min(int16_t(a >> 16), int16_t(b >> 16))))
                   << 16;
      },
      a, b);
  check<uint32_t>(
      "slct.u32.s32 $d, $a, $b, $c;",
      [](uint32_t a, uint32_t b, uint32_t c) {
        return int32_t(c) >= 0 ? a : b;
      },
      a, b, c);
}

} // namespace

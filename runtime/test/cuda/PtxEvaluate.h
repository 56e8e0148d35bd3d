// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instruction on many values, and values that are worth it.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXEVALUATE_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXEVALUATE_H

#include "PtxKernel.h"

#include <random>

namespace ashlar::ptx {

/// So that a failure names what repeats it.
inline uint64_t seedOfRun() {
  static uint64_t seed = [] {
    const char *given = std::getenv("ASHLAR_PTX_SEED");
    uint64_t made =
        given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    ::testing::Test::RecordProperty("seed", std::to_string(made));
    return made;
  }();
  return seed;
}
inline std::mt19937_64 &generator() {
  static std::mt19937_64 made(seedOfRun());
  return made;
}

/// Random bits, numbers around one, and all that is odd in the type.
template <class T> std::vector<T> valuesOf(size_t count) {
  std::vector<T> values(count);
  std::normal_distribution<double> normal(0, 4);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = generator()();
    std::memcpy(&values[i], &bits, sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      static const T odd[] = {T(0),
                              T(-0.0),
                              T(1),
                              T(-1),
                              T(0.5),
                              std::numeric_limits<T>::infinity(),
                              -std::numeric_limits<T>::infinity(),
                              std::numeric_limits<T>::quiet_NaN(),
                              std::numeric_limits<T>::denorm_min(),
                              -std::numeric_limits<T>::min(),
                              std::numeric_limits<T>::max(),
                              std::numeric_limits<T>::lowest(),
                              T(2147483648.0),
                              T(-2147483648.0),
                              T(65504),
                              T(2.5)};
      if (i % 3 == 0)
        values[i] = T(normal(generator()));
      else if (i % 3 == 1 && bits % 2)
        values[i] = odd[bits / 2 % 16];
    } else if (i % 3 == 1) {
      static const int64_t odd[] = {0,  1,  -1, 2,   31,   32,
                                    33, 63, 64, 127, -128, 255};
      values[i] = T(odd[bits % 12]);
    } else if (i % 7 == 2) {
      values[i] = T(1ull << (8 * sizeof(T) - 1));
    }
  }
  return values;
}

/// Of 16 bits, as bits: every exponent, subnormals, infinities, NaN.
inline std::vector<uint16_t> halvesOf(size_t count) {
  std::vector<uint16_t> values(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = generator()();
    static const uint16_t odd[] = {
        0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0x7bff,
        0x7c00, 0xfc00, 0x7e00, 0x3f80, 0x7f80, 0xff80, 0x7f7f, 0x80};
    values[i] = i % 4 == 1   ? odd[bits % 16]
                : i % 4 == 2 ? uint16_t(0x3000 + (bits & 0x8fff))
                             : uint16_t(bits);
  }
  return values;
}

/// The target of kernels that evaluate() makes.
inline const char *&targetOfRun() {
  static const char *made = "sm_90";
  return made;
}

/// `line` with $d, $a, $b, $c for registers of the arrays' widths, on each
/// element. Lines before it may use what kernelText() declares from 40 on.
template <class Out, class... In>
std::vector<Out> evaluate(std::string line, const std::vector<In> &...inputs) {
  const size_t sizes[] = {sizeof(Out), sizeof(In)...};
  const size_t counts[] = {inputs.size()...};
  const char *const names[] = {"$d", "$a", "$b", "$c"};
  auto bitsOf = [](size_t bytes) { return std::to_string(8 * bytes); };
  auto registerOf = [&](size_t i) {
    return (sizes[i] <= 2   ? "%rs2"
            : sizes[i] == 4 ? "%r2"
                            : "%rd2") +
           std::to_string(i);
  };
  for (size_t i = 0; i <= sizeof...(In); ++i)
    for (size_t at; (at = line.find(names[i])) != line.npos;)
      line.replace(at, 2, registerOf(i));
  std::string body = "mov.u32 %r10, %ctaid.x;\nmad.lo.u32 %r10, %r10, 256, "
                     "%r0;\n";
  for (size_t i = 1; i <= sizeof...(In); ++i)
    body += "mad.wide.u32 %rd10, %r10, " + std::to_string(sizes[i]) + ", %rd" +
            std::to_string(i) + ";\nld.global.b" + bitsOf(sizes[i]) + " " +
            registerOf(i) + ", [%rd10];\n";
  body += line + "\nmad.wide.u32 %rd10, %r10, " + std::to_string(sizes[0]) +
          ", %rd0;\nst.global.b" + bitsOf(sizes[0]) + " [%rd10], " +
          registerOf(0) + ";";
  Bench bench(kernelText(1 + sizeof...(In), body, "", targetOfRun()));
  size_t count = counts[0];
  EXPECT_EQ(count % 256, 0u);
  uint64_t out = bench.array(std::vector<Out>(count));
  (bench.array(inputs), ...);
  bench.run(256, uint32_t(count / 256));
  return bench.template read<Out>(out, count);
}

template <class T> std::string spelledBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return hex(bits);
}

/// Bit for bit; any NaN of f32 and f64 is as good as another.
template <class T, class Reference, class... In>
void expectEach(const std::string &line, const std::vector<T> &got,
                Reference reference, const std::vector<In> &...inputs) {
  int wrong = 0;
  for (size_t i = 0; i < got.size() && wrong < 5; ++i) {
    T expected = T(reference(inputs[i]...));
    bool isSame = std::memcmp(&expected, &got[i], sizeof(T)) == 0;
    if constexpr (std::is_floating_point_v<T>)
      isSame |= expected != expected && got[i] != got[i];
    if (isSame)
      continue;
    ++wrong;
    std::string text = line + " with seed " + std::to_string(seedOfRun()) + ":";
    ((text += " " + spelledBits(inputs[i])), ...);
    ADD_FAILURE() << text << " gave " << spelledBits(got[i]) << ", expected "
                  << spelledBits(expected);
  }
}

/// Evaluates and compares.
template <class Out, class Reference, class... In>
void check(const std::string &line, Reference reference,
           const std::vector<In> &...inputs) {
  expectEach(line, evaluate<Out>(line, inputs...), reference, inputs...);
}

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXEVALUATE_H

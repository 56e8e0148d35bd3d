// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM writes as PTX, beside the same functions on the processor.

#include "PtxEvaluate.h"

#include <fstream>
#include <sstream>

using namespace ashlar::ptx;

#define ASHLAR_COMPILED(FUNCTION)                                              \
  FUNCTION(softmax, float, 37, 37, float, 37)                                  \
  FUNCTION(vectors, float, 16, 16, float, 16)                                  \
  FUNCTION(quantize, float, 16, 16, uint8_t, 16)                               \
  FUNCTION(halves, float, 1, 1, float, 1)                                      \
  FUNCTION(bfloats, float, 1, 1, float, 1)                                     \
  FUNCTION(whole, int32_t, 1, 1, int32_t, 1)                                   \
  FUNCTION(narrow, uint16_t, 1, 1, uint16_t, 1)                                \
  FUNCTION(calls, float, 1, 1, float, 1)                                       \
  FUNCTION(doubles, double, 1, 1, double, 1)                                   \
  FUNCTION(tile, float, 4, 4, float, 16)

// By their addresses alone: vectors are the compiler's own.
#define ASHLAR_DECLARE(NAME, T, A, B, OUT, N)                                  \
  extern "C" void NAME(const void *a, const void *b, void *out, int n);
ASHLAR_COMPILED(ASHLAR_DECLARE)

namespace {

template <class T> std::vector<T> moderate(size_t count) {
  std::vector<T> values(count);
  for (T &each : values) {
    uint64_t bits = generator()();
    if constexpr (std::is_floating_point_v<T>)
      each = T(int64_t(bits) >> 32) / T(1 << 27) + T(bits & 7) / 16;
    else
      each = T(bits >> (bits & 31));
  }
  return values;
}

template <class T, class Out>
void compare(const char *target, const std::string &name, size_t perA,
             size_t perB, size_t perOut,
             void (*here)(const void *, const void *, void *, int)) {
  SCOPED_TRACE(name + " for " + target + ", seed " +
               std::to_string(seedOfRun()));
  std::ifstream file(std::string(ASHLAR_COMPILED_PTX) + "." + target + ".ptx");
  ASSERT_TRUE(file) << "no text for " << target;
  std::stringstream text;
  text << file.rdbuf();
  Memory memory;
  Program program(parse(text.str()), memory);
  constexpr size_t threads = 256;
  // At vectors' alignment.
  auto upload = [&](const auto &values) {
    size_t bytes = values.size() * sizeof(values[0]);
    uint64_t address = memory.allocate(bytes);
    std::memcpy(memory.onHost(address, bytes), values.data(), bytes);
    return address;
  };
  auto a = moderate<T>(threads * perA + 512),
       b = moderate<T>(threads * perB + 512);
  uint64_t onA = upload(a), onB = upload(b),
           onOut = upload(std::vector<Out>(threads * perOut));
  Launch launch;
  launch.block[0] = 64;
  launch.grid[0] = threads / 64;
  append(launch, onA);
  append(launch, onB);
  append(launch, onOut);
  run(program, name, launch);
  size_t bytes = threads * perOut * sizeof(Out);
  uint64_t spare = memory.allocate(bytes);
  here(memory.onHost(onA, 1), memory.onHost(onB, 1), memory.onHost(spare, 1),
       int(threads));
  std::vector<Out> got(threads * perOut), expected(threads * perOut);
  std::memcpy(got.data(), memory.onHost(onOut, bytes), bytes);
  std::memcpy(expected.data(), memory.onHost(spare, bytes), bytes);
  int wrong = 0;
  for (size_t i = 0; i < got.size() && wrong < 5; ++i) {
    bool isSame = std::memcmp(&got[i], &expected[i], sizeof(Out)) == 0;
    if (got[i] != got[i] && expected[i] != expected[i])
      isSame = true;
    if (isSame)
      continue;
    ++wrong;
    ADD_FAILURE() << "element " << i << ": " << +got[i] << ", expected "
                  << +expected[i];
  }
}

#define ASHLAR_TEST(NAME, T, A, B, OUT, N)                                     \
  TEST(PtxCompiled, NAME) {                                                    \
    for (const char *target : {"sm_80", "sm_90"})                              \
      compare<T, OUT>(target, #NAME, A, B, N, ::NAME);                         \
  }
ASHLAR_COMPILED(ASHLAR_TEST)

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A way to run one kernel, for tests of the systolic simulator.

#ifndef ASHLAR_RUNTIME_TEST_SIMULATED_H
#define ASHLAR_RUNTIME_TEST_SIMULATED_H

#include "SystolicMachines.h"
#include "systolic/Function.h"
#include "systolic/StreamBuilder.h"
#include "systolic/Timing.h"

#include <gtest/gtest.h>

#include <random>

namespace ashlar::systolic {

/// A kernel with memory of its own, through the image and back.
class Simulated {
public:
  Simulated(const Machine &machine, const Kernel &kernel)
      : machine(machine), timing(machine, kernel.regions.size()) {
    Image image;
    image.machine = machine;
    image.kernels.push_back(kernel);
    std::string bytes = writeImage(image);
    error = readImage(bytes.data(), bytes.size(), read);
  }

  template <typename T> void bind(std::vector<T> &values, bool isWritable) {
    bindings.push_back({values.data(), values.size() * sizeof(T), isWritable});
  }

  /// False: error says why.
  bool run() {
    if (!error.empty())
      return false;
    const Kernel &kernel = read.kernels[0];
    Decoder decoder(read.machine, kernel);
    Function function(read.machine);
    function.start(bindings);
    Action action;
    while (decoder.next(action)) {
      timing.add(action);
      if (!function.execute(action)) {
        error = function.error();
        return false;
      }
    }
    timing.finish();
    error = decoder.error();
    return error.empty();
  }
  /// Cycles alone, without data.
  uint64_t count() {
    Decoder decoder(read.machine, read.kernels[0]);
    for (Action action; decoder.next(action);)
      timing.add(action);
    timing.finish();
    EXPECT_EQ(decoder.error(), "");
    return timing.cycles();
  }
  const Kernel &kernel() const { return read.kernels[0]; }

  const Machine machine;
  Timing timing;
  Image read;
  Vector<Binding> bindings;
  std::string error;
};

/// Numbers of which every test has its own sequence.
class Random {
public:
  explicit Random(uint32_t seed) : engine(seed) {}
  uint32_t below(uint32_t limit) { return uint32_t(engine() % limit); }
  uint32_t between(uint32_t least, uint32_t most) {
    return least + below(most - least + 1);
  }
  float real(float limit = 2) {
    return std::uniform_real_distribution<float>(-limit, limit)(engine);
  }
  std::vector<int8_t> bytes(size_t count) {
    std::vector<int8_t> values(count);
    for (int8_t &value : values)
      value = int8_t(engine());
    return values;
  }
  std::vector<uint16_t> halves(size_t count);

private:
  std::mt19937 engine;
};

// Independent of the simulator's own conversions.
inline float widenHalf(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, 4);
  return result;
}
inline uint16_t narrowHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint32_t rest = bits & 0xffff, high = bits >> 16;
  if (rest > 0x8000 || (rest == 0x8000 && (high & 1)))
    ++high;
  return uint16_t(high);
}
inline std::vector<uint16_t> Random::halves(size_t count) {
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values)
    value = narrowHalf(real());
  return values;
}

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_TEST_SIMULATED_H

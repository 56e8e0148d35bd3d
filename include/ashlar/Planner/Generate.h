// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers made up for tests and measurements; the same for the same seed.
#ifndef ASHLAR_PLANNER_GENERATE_H
#define ASHLAR_PLANNER_GENERATE_H

#include "ashlar/Planner/Planner.h"

namespace ashlar::planner {

/// Steele, Lea and Flood's SplitMix64: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// From 0 to 1, 1 left out.
  double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// From 0 to `limit`, which is left out.
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(limit));
  }

private:
  uint64_t state;
};

/// Cuts a rectangle of time and `capacity` bytes into `count` buffers, so that
/// a plan with the peak `capacity` exists and none with a lower one.
std::vector<Buffer> generateTiling(int64_t count, int64_t capacity,
                                   uint64_t seed);

/// Lives as a network's values have them: most are read by the next operation,
/// some a few operations later, few much later; sizes drift from one operation
/// to the next; some operations have scratch of their own.
std::vector<Buffer> generateNetwork(int64_t count, uint64_t seed);

} // namespace ashlar::planner

#endif // ASHLAR_PLANNER_GENERATE_H

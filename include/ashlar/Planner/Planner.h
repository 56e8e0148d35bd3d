// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places buffers with known lifetimes into one range of bytes: the dynamic
// storage allocation problem of compilers. Needs nothing but the standard
// library, so that the tool, the compiler and the tests share it.
//
// Time runs one way, addresses the other; a buffer is a rectangle whose place
// in time is given and whose place in memory is wanted. The result is a
// function of the input and the limit on steps alone: equal input, equal bytes.
#ifndef ASHLAR_PLANNER_PLANNER_H
#define ASHLAR_PLANNER_PLANNER_H

#include <cstdint>
#include <functional>
#include <vector>

namespace ashlar::planner {

/// `bytes` are needed from time `lower` to time `upper` (exclusive), at a
/// multiple of `alignment`.
struct Buffer {
  int64_t lower = 0, upper = 0, bytes = 0, alignment = 1;
};

/// The largest alignment, and what all sizes and alignments together stay
/// below, so that no offset overflows.
constexpr int64_t mostAlignment = int64_t(1) << 32;
constexpr int64_t mostTotalBytes = int64_t(1) << 60;

/// The moment when most is alive.
struct Load {
  int64_t bytes = 0; ///< no plan needs less
  int64_t time = 0;  ///< a time at which that much is alive
};

struct Limits {
  /// Elementary steps of the search, some nanoseconds each. The default is
  /// about ten seconds.
  int64_t steps = 2'000'000'000;
  /// Wall time, for callers that can do without equal results. 0: none.
  double seconds = 0;
  /// Called now and then by a long search, with the lowest peak so far.
  std::function<void(int64_t peak)> progress;
};

struct Plan {
  std::vector<int64_t> offsets; ///< one per buffer
  int64_t peak = 0;             ///< the end of the highest buffer
  int64_t lowerBound = 0;       ///< no plan needs less
  int64_t greedyPeak = 0;       ///< the best of the greedy orders
  int64_t provenBound = 0;      ///< what the search proved no plan to go below
  int64_t steps = 0;            ///< of the search
  bool isOptimal() const { return peak <= provenBound; }
};

/// What the functions below take: sizes of at least 0, lives that end after
/// they begin, and no more than the two limits above.
bool areSound(const std::vector<Buffer> &buffers);

/// The largest sum of sizes alive at one time, sizes rounded to what all
/// alignments have in common.
Load findLargestLoad(const std::vector<Buffer> &buffers);

/// The lowest peak found within the limits.
Plan planLowest(const std::vector<Buffer> &buffers, const Limits &limits = {});

/// Stops at the first plan whose peak is at most `capacity`; if none is found
/// within the limits, the lowest there is.
Plan planWithin(const std::vector<Buffer> &buffers, int64_t capacity,
                const Limits &limits = {});

/// The best of several greedy orders, in n log n steps for lifetimes as models
/// have them.
Plan planGreedily(const std::vector<Buffer> &buffers);

} // namespace ashlar::planner

#endif // ASHLAR_PLANNER_PLANNER_H

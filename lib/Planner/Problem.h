// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffers as the search wants them. Time is cut into sections: the moments
// at which the set of live buffers is largest, in the sense that no other
// moment's set holds it. Buffers may overlap in memory exactly if they share no
// section, so nothing else of time matters.
#ifndef ASHLAR_LIB_PLANNER_PROBLEM_H
#define ASHLAR_LIB_PLANNER_PROBLEM_H

#include "ashlar/Planner/Planner.h"

namespace ashlar::planner {

inline int64_t alignUp(int64_t value, int64_t alignment) {
  if (alignment == 1)
    return value;
  int64_t rest = value % alignment;
  return rest == 0 ? value : value + alignment - rest;
}

/// More items in more sections than this are not looked at one by one.
constexpr int64_t mostMembers = 16'000'000;

struct Item {
  int first, last;   ///< sections, inclusive
  int64_t bytes;     ///< as requested
  int64_t size;      ///< rounded to `Problem::unit`: what it takes below others
  int64_t alignment; ///< of its offset
  int buffer;        ///< its number in the caller's list
  /// The item before this one with equal life, size and alignment, or -1. Of
  /// such twins the later may be placed higher without loss.
  int previousTwin;
};

/// Who is alive when: the items of section s are items[starts[s]] and on.
struct Members {
  std::vector<int> starts, items;
};

struct Problem {
  explicit Problem(const std::vector<Buffer> &buffers);

  int64_t unit = 1;        ///< all offsets are multiples of it
  std::vector<Item> items; ///< empty buffers left out; by first, then last
  int sectionCount = 0;
  std::vector<int64_t> sectionTimes;
  std::vector<int64_t> loads; ///< per section: sum of sizes
  Load largest;
  int64_t memberCount = 0; ///< summed over the sections
  /// Takes memory for every item in every section, so it is for the search.
  Members listMembers() const;

private:
  void measureLoads();
};

} // namespace ashlar::planner

#endif // ASHLAR_LIB_PLANNER_PROBLEM_H

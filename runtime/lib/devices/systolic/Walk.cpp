// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decoder.h"

#include <algorithm>

namespace ashlar::systolic {

/// Bounds of the first `rows` sums of digit times step.
static void bounds(const Walk &walk, const int64_t *steps, int64_t &least,
                   int64_t &greatest) {
  least = greatest = 0;
  // What the first `inner` rows reach, for one more level in each iteration.
  // Only the rows beyond the last full block of a level need a second look.
  int64_t restLeast = 0, restGreatest = 0, rest = 0;
  int64_t fullLeast = 0, fullGreatest = 0, inner = 1;
  for (unsigned level = 0; level < walk.levels; ++level) {
    int64_t count = walk.counts[level], step = steps[level];
    int64_t blocks = int64_t(walk.rows) / inner;
    int64_t full =
        level + 1 == walk.levels ? std::min(blocks, count) : blocks % count;
    auto cover = [&](int64_t from, int64_t n, int64_t &low, int64_t &high) {
      // Digits from, from + 1, ... of this level over full blocks below.
      int64_t first = from * step, last = (from + n - 1) * step;
      low = std::min(first, last) + fullLeast;
      high = std::max(first, last) + fullGreatest;
    };
    // The incomplete block of this level: `full` complete ones, then the rest.
    int64_t newLeast = 0, newGreatest = 0, newRest = full * inner + rest;
    if (full)
      cover(0, full, newLeast, newGreatest);
    if (rest) {
      int64_t low = full * step + restLeast, high = full * step + restGreatest;
      newLeast = full ? std::min(newLeast, low) : low;
      newGreatest = full ? std::max(newGreatest, high) : high;
    }
    int64_t wholeLeast, wholeGreatest;
    cover(0, count, wholeLeast, wholeGreatest);
    restLeast = newLeast, restGreatest = newGreatest, rest = newRest;
    fullLeast = wholeLeast, fullGreatest = wholeGreatest;
    inner *= count;
  }
  least = restLeast;
  greatest = restGreatest;
}

void Walk::rowBounds(int64_t &least, int64_t &greatest) const {
  bounds(*this, steps, least, greatest);
}

void Walk::byteBounds(int64_t &least, int64_t &greatest) const {
  bounds(*this, bytes, least, greatest);
}

} // namespace ashlar::systolic

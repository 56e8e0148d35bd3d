// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WrittenRows.h"

#include <algorithm>

using namespace ashlar::systolic;

/// Calls `visit` with binding and range of bytes of each row.
template <typename Visit>
static void forEachRow(const std::vector<Transfer> &transfers, Visit visit) {
  for (const Transfer &transfer : transfers) {
    if (transfer.memory == 0)
      continue;
    auto binding =
        uint32_t(transfer.memory >> ASHLAR_SYSTOLIC_BINDING_SHIFT) - 1;
    uint64_t first =
        transfer.memory & ((uint64_t(1) << ASHLAR_SYSTOLIC_BINDING_SHIFT) - 1);
    uint64_t bytes = uint64_t(transfer.columns) * transfer.elementBytes;
    std::vector<uint32_t> digits(transfer.levels.size(), 0);
    for (size_t level = 0; level <= digits.size();) {
      visit(binding, first, first + bytes);
      for (level = 0; level < digits.size(); ++level) {
        const Level &moving = transfer.levels[level];
        first += uint64_t(moving.bytes);
        if (++digits[level] < moving.count)
          break;
        first -= uint64_t(moving.bytes) * moving.count;
        digits[level] = 0;
      }
      if (level == digits.size())
        break;
    }
  }
}

void WrittenRows::note(const std::vector<Transfer> &transfers, int step) {
  forEachRow(transfers, [&](uint32_t binding, uint64_t begin, uint64_t end) {
    std::vector<int> &of = steps[binding];
    uint64_t last = (end + granule - 1) / granule;
    if (of.size() < last)
      of.resize(last, -1);
    for (uint64_t i = begin / granule; i < last; ++i)
      of[i] = std::max(of[i], step);
  });
}

int WrittenRows::lastOf(const std::vector<Transfer> &transfers) const {
  int last = -1;
  if (steps.empty())
    return last;
  forEachRow(transfers, [&](uint32_t binding, uint64_t begin, uint64_t end) {
    auto found = steps.find(binding);
    if (found == steps.end())
      return;
    const std::vector<int> &of = found->second;
    uint64_t until =
        std::min<uint64_t>((end + granule - 1) / granule, of.size());
    for (uint64_t i = begin / granule; i < until; ++i)
      last = std::max(last, of[i]);
  });
  return last;
}

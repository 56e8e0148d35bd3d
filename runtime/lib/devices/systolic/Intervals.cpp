// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Intervals.h"

#include <algorithm>

namespace ashlar::systolic {

void Intervals::add(uint64_t begin, uint64_t end) {
  if (begin >= end)
    return;
  if (!parts.empty() && begin <= parts.back().second &&
      end >= parts.back().first) {
    parts.back().first = std::min(parts.back().first, begin);
    parts.back().second = std::max(parts.back().second, end);
    return;
  }
  parts.push_back({begin, end});
}

void Intervals::add(const Intervals &others) {
  for (auto [begin, end] : others.parts)
    add(begin, end);
}

Vector<std::pair<uint64_t, uint64_t>> Intervals::merged() const {
  Vector<std::pair<uint64_t, uint64_t>> sorted = parts, result;
  std::sort(sorted.begin(), sorted.end());
  for (auto [begin, end] : sorted) {
    if (!result.empty() && begin <= result.back().second)
      result.back().second = std::max(result.back().second, end);
    else
      result.push_back({begin, end});
  }
  return result;
}

uint64_t Intervals::count() const {
  uint64_t cycles = 0;
  for (auto [begin, end] : merged())
    cycles += end - begin;
  return cycles;
}

uint64_t Intervals::countWithout(const Intervals &others) const {
  return count() - within(others).count();
}

Intervals Intervals::within(const Intervals &others) const {
  Intervals both;
  auto mine = merged(), theirs = others.merged();
  for (size_t i = 0, j = 0; i < mine.size() && j < theirs.size();) {
    both.add(std::max(mine[i].first, theirs[j].first),
             std::min(mine[i].second, theirs[j].second));
    ++(mine[i].second < theirs[j].second ? i : j);
  }
  return both;
}

} // namespace ashlar::systolic

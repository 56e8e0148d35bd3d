// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Problem.h"
#include <algorithm>
#include <numeric>
#include <tuple>

using namespace ashlar::planner;

bool ashlar::planner::areSound(const std::vector<Buffer> &buffers) {
  int64_t left = mostTotalBytes;
  for (const Buffer &buffer : buffers) {
    if (buffer.bytes < 0 || buffer.lower >= buffer.upper ||
        buffer.alignment < 1 || buffer.alignment > mostAlignment ||
        buffer.bytes > left - buffer.alignment)
      return false;
    left -= buffer.bytes + buffer.alignment;
  }
  return true;
}

/// The moments with a set of live items that no other moment's set holds: an
/// item has begun there, and the next thing to happen is an end.
static std::vector<int64_t> findSections(const std::vector<Buffer> &buffers,
                                         const std::vector<Item> &items) {
  std::vector<std::pair<int64_t, bool>> events; // ends sort before begins
  for (const Item &item : items) {
    events.emplace_back(buffers[item.buffer].lower, true);
    events.emplace_back(buffers[item.buffer].upper, false);
  }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> times;
  bool hasBegun = false;
  for (size_t i = 0; i != events.size(); ++i) {
    if (!events[i].second && hasBegun)
      times.push_back(events[i - 1].first);
    hasBegun = events[i].second;
  }
  return times;
}

Problem::Problem(const std::vector<Buffer> &buffers) {
  unit = 0;
  for (size_t i = 0; i != buffers.size(); ++i)
    if (buffers[i].bytes != 0) {
      unit = std::gcd(unit, buffers[i].alignment);
      items.push_back({0, 0, buffers[i].bytes, 0, buffers[i].alignment,
                       static_cast<int>(i), -1});
    }
  unit = std::max<int64_t>(unit, 1);
  sectionTimes = findSections(buffers, items);
  sectionCount = static_cast<int>(sectionTimes.size());
  auto sectionFrom = [&](int64_t time) {
    return static_cast<int>(
        std::lower_bound(sectionTimes.begin(), sectionTimes.end(), time) -
        sectionTimes.begin());
  };
  for (Item &item : items) {
    item.size = alignUp(item.bytes, unit);
    item.first = sectionFrom(buffers[item.buffer].lower);
    item.last = sectionFrom(buffers[item.buffer].upper) - 1;
  }
  auto kind = [](const Item &item) {
    return std::make_tuple(item.first, item.last, item.bytes, item.alignment);
  };
  std::sort(items.begin(), items.end(), [&](const Item &x, const Item &y) {
    return std::make_tuple(kind(x), x.buffer) <
           std::make_tuple(kind(y), y.buffer);
  });
  for (size_t i = 1; i < items.size(); ++i)
    if (kind(items[i]) == kind(items[i - 1]))
      items[i].previousTwin = static_cast<int>(i) - 1;

  measureLoads();
}

void Problem::measureLoads() {
  loads.assign(sectionCount + 1, 0);
  for (const Item &item : items) {
    loads[item.first] += item.size;
    loads[item.last + 1] -= item.size;
    memberCount += item.last - item.first + 1;
  }
  for (int s = 1; s <= sectionCount; ++s)
    loads[s] += loads[s - 1];
  loads.pop_back();
  // The highest item of a section need not be followed by its padding. Which
  // one that is remains open, so it is the one with the most; where looking at
  // every item in every section takes too long, the one with the most of all.
  bool isExact = memberCount <= mostMembers;
  int64_t most = 0;
  std::vector<int64_t> paddings(sectionCount, 0);
  for (const Item &item : items) {
    most = std::max(most, item.size - item.bytes);
    if (isExact)
      for (int s = item.first; s <= item.last; ++s)
        paddings[s] = std::max(paddings[s], item.size - item.bytes);
  }
  for (int s = 0; s != sectionCount; ++s) {
    int64_t load = loads[s] - (isExact ? paddings[s] : most);
    if (load > largest.bytes)
      largest = {load, sectionTimes[s]};
  }
  for (const Item &item : items)
    if (item.bytes > largest.bytes)
      largest = {item.bytes, sectionTimes[item.first]};
}

Members Problem::listMembers() const {
  Members result;
  result.starts.assign(sectionCount + 1, 0);
  for (const Item &item : items)
    for (int s = item.first; s <= item.last; ++s)
      ++result.starts[s + 1];
  std::partial_sum(result.starts.begin(), result.starts.end(),
                   result.starts.begin());
  result.items.resize(result.starts.back());
  std::vector<int> next(result.starts.begin(), result.starts.end() - 1);
  for (size_t i = 0; i != items.size(); ++i)
    for (int s = items[i].first; s <= items[i].last; ++s)
      result.items[next[s]++] = static_cast<int>(i);
  return result;
}

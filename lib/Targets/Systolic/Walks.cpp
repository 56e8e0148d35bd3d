// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Walks.h"

using namespace ashlar::systolic;

int64_t Box::count() const {
  int64_t all = 1;
  for (const Level &level : levels)
    all *= level.count;
  return all;
}

/// Joins digits of which the outer one goes on where the inner one ends.
static std::vector<Digit> joinDigits(const std::vector<Digit> &digits) {
  std::vector<Digit> joined;
  for (const Digit &digit : digits) {
    if (digit.size == 1)
      continue;
    if (!joined.empty() && joined.back().bytes == digit.bytes * digit.size &&
        joined.back().rows == digit.rows * digit.size) {
      joined.back() = {joined.back().size * digit.size, digit.bytes,
                       digit.rows};
      continue;
    }
    joined.push_back(digit);
  }
  return joined;
}

std::vector<Level>
ashlar::systolic::joinLevels(const std::vector<Level> &levels) {
  std::vector<Level> joined;
  for (const Level &level : levels) {
    if (level.count == 1)
      continue;
    if (!joined.empty()) {
      Level &inner = joined.back();
      if (int64_t(inner.count) * inner.rows == level.rows &&
          inner.count * inner.bytes == level.bytes) {
        inner.count *= level.count;
        continue;
      }
    }
    joined.push_back(level);
  }
  return joined;
}

namespace {
class Splitter {
public:
  explicit Splitter(const std::vector<Digit> &digits) : digits(digits) {
    inner.assign(digits.size() + 1, 1);
    for (size_t i = digits.size(); i-- > 0;)
      inner[i] = inner[i + 1] * digits[i].size;
  }

  /// [begin, end) of the digits from `depth` on; `at` says where the digits
  /// before have led.
  void split(size_t depth, int64_t begin, int64_t end, Box at) {
    if (begin == end)
      return;
    if (begin == 0 && end == inner[depth]) {
      for (size_t i = digits.size(); i-- > depth;)
        at.levels.push_back({uint32_t(digits[i].size), int32_t(digits[i].rows),
                             digits[i].bytes});
      boxes.push_back(at);
      return;
    }
    int64_t unit = inner[depth + 1];
    int64_t first = begin / unit, last = (end - 1) / unit;
    auto moved = [&](int64_t digit) {
      Box box = at;
      box.first += digit * unit;
      box.bytes += digit * digits[depth].bytes;
      box.rows += digit * digits[depth].rows;
      return box;
    };
    if (first == last)
      return split(depth + 1, begin - first * unit, end - first * unit,
                   moved(first));
    if (begin % unit) {
      split(depth + 1, begin % unit, unit, moved(first));
      ++first;
    }
    int64_t full = end / unit - first;
    if (full > 0) {
      Box box = moved(first);
      for (size_t i = digits.size(); i-- > depth + 1;)
        box.levels.push_back({uint32_t(digits[i].size), int32_t(digits[i].rows),
                              digits[i].bytes});
      box.levels.push_back(
          {uint32_t(full), int32_t(digits[depth].rows), digits[depth].bytes});
      boxes.push_back(box);
    }
    if (end % unit)
      split(depth + 1, 0, end % unit, moved(end / unit));
  }

  std::vector<Box> boxes;

private:
  const std::vector<Digit> &digits;
  std::vector<int64_t> inner; // numbers of the digits from here on
};
} // namespace

std::vector<Box> ashlar::systolic::boxesOf(std::vector<Digit> digits,
                                           int64_t begin, int64_t end) {
  digits = joinDigits(digits);
  Splitter splitter(digits);
  splitter.split(0, begin, end, Box{0, 0, 0, {}});
  // What was left out of `first` when a box began within a digit.
  int64_t first = begin;
  for (Box &box : splitter.boxes) {
    box.levels = joinLevels(box.levels);
    box.first = first;
    first += box.count();
  }
  return splitter.boxes;
}

std::vector<Run> ashlar::systolic::runsOf(const std::vector<Digit> &digits,
                                          int64_t begin, int64_t end) {
  std::vector<Run> runs;
  auto add = [&](int64_t first, int64_t length, int64_t offset) {
    if (!runs.empty() && runs.back().offset + runs.back().length == offset) {
      runs.back().length += length;
      return;
    }
    runs.push_back({first, length, offset});
  };
  for (const Box &box : boxesOf(digits, begin, end)) {
    bool isRun = !box.levels.empty() && box.levels[0].bytes == 1;
    int64_t length = isRun ? box.levels[0].count : 1;
    std::vector<int64_t> at(box.levels.size(), 0);
    int64_t offset = box.bytes, first = box.first;
    for (;;) {
      add(first, length, offset);
      first += length;
      size_t level = isRun ? 1 : 0;
      for (; level < at.size(); ++level) {
        offset += box.levels[level].bytes;
        if (++at[level] < int64_t(box.levels[level].count))
          break;
        offset -= box.levels[level].bytes * box.levels[level].count;
        at[level] = 0;
      }
      if (level == at.size())
        break;
    }
  }
  return runs;
}

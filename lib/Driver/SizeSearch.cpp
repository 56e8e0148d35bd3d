// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizeSearch.h"
#include <algorithm>
#include <numeric>

using namespace ashlar;

static int64_t countSizes(const SizeRange &range) {
  return (range.maximum - range.minimum) / range.step + 1;
}

static SizeRange fixAt(SizeRange range, int64_t size) {
  range.minimum = range.maximum = size;
  return range;
}

/// At most one size where there is no other.
static SizeRange multiplesIn(SizeRange range, int64_t step) {
  range.step = step;
  range.minimum = (range.minimum + step - 1) / step * step;
  range.maximum = std::max(range.maximum / step * step, range.minimum);
  return range;
}

/// Few sizes that are far apart may serve better than many beside each other.
static bool isWider(const SizeRange &range, const SizeRange &best) {
  constexpr int64_t times = 4;
  return range.maximum - range.minimum > times * (best.maximum - best.minimum);
}

namespace {
class SizeSearch {
public:
  SizeSearch(const std::vector<SizeRange> &refused, const SizeTrials &trials)
      : refused(refused), trials(trials) {}

  std::vector<SizeRange> run();

private:
  bool findBase();
  bool worksWith(size_t symbol, const SizeRange &range) const;
  SizeRange growFrom(size_t symbol, int64_t first) const;
  SizeRange findRange(size_t symbol) const;
  bool growsEvenly(size_t symbol, const SizeRange &range) const;

  /// Sizes halve and double that often in any network.
  static constexpr int64_t largestStep = 64;

  const std::vector<SizeRange> &refused;
  const SizeTrials &trials;
  std::vector<SizeRange> found; ///< fixed where not opened yet
};
} // namespace

/// Somewhere to begin: the largest sizes at which the model is one at all.
bool SizeSearch::findBase() {
  std::vector<std::vector<int64_t>> points;
  auto add = [&](auto sizeOf) {
    std::vector<int64_t> &point = points.emplace_back();
    for (const SizeRange &range : refused) {
      int64_t size = sizeOf(range);
      point.push_back(std::max(range.minimum, size - size % range.step));
    }
    if (std::count(points.begin(), points.end(), point) > 1)
      points.pop_back();
  };
  add([](const SizeRange &range) { return range.maximum; });
  for (int64_t step = 2; step <= largestStep; step *= 2)
    add([&](const SizeRange &range) {
      return range.maximum - range.maximum % (range.step * step);
    });
  add([](const SizeRange &range) {
    return range.minimum + (range.maximum - range.minimum) / 2;
  });
  add([](const SizeRange &range) { return range.minimum; });
  auto base = std::find_if(points.begin(), points.end(), trials.compiles);
  if (base == points.end())
    return false;
  for (size_t i = 0; i != refused.size(); ++i)
    found.push_back(fixAt(refused[i], (*base)[i]));
  return true;
}

bool SizeSearch::worksWith(size_t symbol, const SizeRange &range) const {
  std::vector<SizeRange> ranges = found;
  ranges[symbol] = range;
  return trials.works(ranges);
}

/// As far up and down as it works from the size of that number and its
/// successor on; fixed where these do not work.
SizeRange SizeSearch::growFrom(size_t symbol, int64_t first) const {
  const SizeRange &whole = refused[symbol];
  auto between = [&](int64_t low, int64_t high) {
    SizeRange range = whole;
    range.minimum = whole.minimum + low * whole.step;
    range.maximum = whole.minimum + high * whole.step;
    return range;
  };
  int64_t low = first, high = first + 1;
  if (!worksWith(symbol, between(low, high)))
    return found[symbol];
  for (int64_t wrong = countSizes(whole); wrong - high > 1;) {
    // The end itself is the likeliest.
    int64_t half =
        wrong == countSizes(whole) ? wrong - 1 : high + (wrong - high) / 2;
    if (worksWith(symbol, between(low, half)))
      high = half;
    else
      wrong = half;
  }
  for (int64_t wrong = -1; low - wrong > 1;) {
    int64_t half = wrong == -1 ? 0 : wrong + (low - wrong) / 2;
    if (worksWith(symbol, between(half, high)))
      low = half;
    else
      wrong = half;
  }
  return between(low, high);
}

bool SizeSearch::growsEvenly(size_t symbol, const SizeRange &range) const {
  std::vector<int64_t> point;
  for (const SizeRange &each : found)
    point.push_back(each.maximum);
  point[symbol] = range.maximum;
  return trials.growsEvenly(point, symbol, range.step);
}

SizeRange SizeSearch::findRange(size_t symbol) const {
  const SizeRange &whole = refused[symbol];
  SizeRange best = found[symbol];
  auto take = [&](const SizeRange &range) {
    if (countSizes(range) > countSizes(best))
      best = range;
  };
  int64_t count = countSizes(whole);
  for (int64_t first : {count - 2, count / 2, int64_t(0)}) {
    int64_t size = whole.minimum + first * whole.step;
    bool isIn =
        countSizes(best) > 1 && size >= best.minimum && size < best.maximum;
    if (first >= 0 && first + 1 < count && !isIn)
      take(growFrom(symbol, first));
  }
  for (int64_t times = 2; times <= largestStep; times *= 2) {
    SizeRange range = multiplesIn(whole, whole.step * times);
    if (countSizes(range) <= countSizes(best))
      break; // further multiples are fewer
    if (worksWith(symbol, range))
      take(range);
  }
  for (int64_t divisor : trials.divisors) {
    if (divisor < 2 || divisor > whole.maximum)
      continue;
    SizeRange range = multiplesIn(whole, std::lcm(whole.step, divisor));
    bool isMore = countSizes(range) > countSizes(best) || isWider(range, best);
    if (isMore && growsEvenly(symbol, range) && worksWith(symbol, range))
      best = range;
  }
  return best;
}

std::vector<SizeRange> SizeSearch::run() {
  if (!findBase())
    return {};
  bool isOpen = false;
  for (size_t i = 0; i != refused.size(); ++i) {
    // Of one symbol, that is what was refused.
    if (refused.size() > 1 && worksWith(i, refused[i]))
      found[i] = refused[i];
    else
      found[i] = findRange(i);
    isOpen |= countSizes(found[i]) > 1;
  }
  return isOpen ? found : std::vector<SizeRange>();
}

std::vector<SizeRange>
ashlar::findWorkingRanges(const std::vector<SizeRange> &refused,
                          const SizeTrials &trials) {
  return SizeSearch(refused, trials).run();
}

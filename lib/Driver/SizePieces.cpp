// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizePieces.h"
#include <algorithm>

using namespace ashlar;

static int64_t sizesOf(const SizeRange &range) {
  return (range.maximum - range.minimum) / range.step + 1;
}

std::optional<SizeCut> ashlar::cutAtZero(const std::vector<SizeRange> &ranges) {
  for (size_t i = 0; i != ranges.size(); ++i)
    if (ranges[i].minimum == 0 && ranges[i].maximum > 0)
      return SizeCut{i, ranges[i].step};
  return std::nullopt;
}

int64_t ashlar::countSizes(const std::vector<SizeRange> &ranges, int64_t most) {
  __int128 count = 1;
  for (const SizeRange &range : ranges)
    count = std::min<__int128>(most, count * sizesOf(range));
  return int64_t(count);
}

std::string ashlar::spellRanges(const std::vector<SizeRange> &ranges) {
  std::string text;
  for (const SizeRange &range : ranges)
    text += (text.empty() ? "" : ",") +
            (range.minimum == range.maximum
                 ? range.name + "=" + std::to_string(range.minimum)
                 : range.text());
  return text;
}

/// As many parts may be so small, one after the other, that there would be too
/// many of them.
static constexpr unsigned mostPeeled = 2;

/// The middle of the symbol with the most sizes.
static SizeCut halve(const std::vector<SizeRange> &ranges) {
  size_t symbol = 0;
  for (size_t i = 1; i < ranges.size(); ++i)
    if (sizesOf(ranges[i]) > sizesOf(ranges[symbol]))
      symbol = i;
  const SizeRange &range = ranges[symbol];
  return {symbol, range.minimum + sizesOf(range) / 2 * range.step};
}

/// Where nothing says at which sizes of which symbol a model differs, it may be
/// at each size of a symbol with few. Tries the largest of those alone, for all
/// sizes of the others; where that works, gives a part for each further one.
static std::vector<std::vector<SizeRange>> fixSymbol(
    const std::vector<SizeRange> &ranges, unsigned allowed,
    const std::function<SizeTrial(const std::vector<SizeRange> &)> &tries) {
  std::vector<std::vector<SizeRange>> parts;
  auto isOpen = [](const SizeRange &range) { return sizesOf(range) > 1; };
  auto few = std::min_element(ranges.begin(), ranges.end(),
                              [&](const auto &x, const auto &y) {
                                return std::pair(!isOpen(x), sizesOf(x)) <
                                       std::pair(!isOpen(y), sizesOf(y));
                              });
  if (std::count_if(ranges.begin(), ranges.end(), isOpen) < 2 ||
      sizesOf(*few) > allowed)
    return parts;
  size_t symbol = few - ranges.begin();
  auto partAt = [&](int64_t size) {
    std::vector<SizeRange> part = ranges;
    part[symbol].minimum = part[symbol].maximum = size;
    return part;
  };
  if (tries(partAt(few->maximum)).outcome != SizeTrial::Works)
    return parts;
  for (int64_t size = few->minimum; size != few->maximum; size += few->step)
    parts.push_back(partAt(size));
  return parts;
}

bool ashlar::cutIntoPieces(
    const std::vector<SizeRange> &whole, const SizeTrial &known, unsigned most,
    const std::function<SizeTrial(const std::vector<SizeRange> &)> &tries) {
  // The next one last.
  std::vector<std::vector<SizeRange>> left = {whole};
  unsigned working = 0, peeled = 0;
  SizeTrial trial = known;
  for (bool isFirst = true; !left.empty(); isFirst = false) {
    std::vector<SizeRange> ranges = std::move(left.back());
    left.pop_back();
    if (!isFirst)
      trial = tries(ranges);
    if (trial.outcome == SizeTrial::Works) {
      ++working;
      continue;
    }
    unsigned allowed = most - working - unsigned(left.size());
    if (trial.outcome == SizeTrial::Fails || allowed < 2)
      return false;
    if (countSizes(ranges, 2) < 2)
      return false;
    if (!trial.cut)
      if (auto parts = fixSymbol(ranges, allowed, tries); !parts.empty()) {
        ++working;
        left.insert(left.end(), parts.begin(), parts.end());
        continue;
      }
    SizeCut cut = trial.cut ? *trial.cut : halve(ranges);
    SizeRange &range = ranges[cut.symbol];
    if (cut.first <= range.minimum || cut.first > range.maximum)
      return false;
    // Who differs at each size, or every other, is cut for long, and in vain.
    int64_t above = (range.maximum - cut.first) / range.step + 1;
    peeled = above < sizesOf(range) / allowed ? peeled + 1 : 0;
    if (peeled > mostPeeled)
      return false;
    std::vector<SizeRange> below = ranges;
    range.minimum = cut.first;
    below[cut.symbol].maximum = cut.first - range.step;
    left.push_back(std::move(below));
    left.push_back(std::move(ranges));
  }
  return true;
}

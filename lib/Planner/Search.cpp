// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Search.h"
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

using namespace ashlar::planner;

static constexpr int64_t never = std::numeric_limits<int64_t>::max();
/// Offsets of failed states to remember, 32 MiB; then it starts anew.
static constexpr size_t mostRemembered = 4'000'000;
/// Of one set of items left, which do not imply each other.
static constexpr size_t mostAlike = 8;

/// The finalizer of MurmurHash3.
static uint64_t hashOf(int item) {
  uint64_t x = static_cast<uint64_t>(item + 1) * 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDull;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53ull;
  return x ^ (x >> 33);
}

Search::Search(const Problem &problem, int64_t capacity, Spending &spending)
    : problem(problem), capacity(capacity),
      roundedCapacity(alignUp(capacity, problem.unit)), spending(spending),
      all(problem.listMembers()), failureCounts(problem.sectionCount, 1) {
  for (const Item &item : problem.items) {
    sizes.push_back(item.size);
    twins.push_back(item.previousTwin);
  }
  positionStarts.push_back(0);
  for (const Item &item : problem.items)
    positionStarts.push_back(positionStarts.back() + item.last - item.first +
                             1);
  itemStarts.assign(problem.sectionCount + 1, 0);
  for (const Item &item : problem.items)
    ++itemStarts[item.first + 1];
  std::partial_sum(itemStarts.begin(), itemStarts.end(), itemStarts.begin());
  isDirty.assign(problem.sectionCount, 0);
  isTouched.assign(problem.sectionCount, 0);
}

void Search::reset() {
  size_t count = problem.items.size();
  lowest.assign(count, 0);
  raised.assign(count, 0);
  placed.assign(count, 0);
  sections.assign(problem.sectionCount, Section());
  members = all.items;
  leftCount.resize(problem.sectionCount);
  leftSize = problem.loads;
  positions.resize(positionStarts.back());
  for (int s = 0; s != problem.sectionCount; ++s) {
    int start = all.starts[s];
    leftCount[s] = all.starts[s + 1] - start;
    for (int k = 0; k != leftCount[s]; ++k) {
      int item = members[start + k];
      positions[positionStarts[item] + s - problem.items[item].first] = k;
    }
  }
  crossing.assign(problem.sectionCount, 0);
  hashes.assign(problem.sectionCount, 0);
  for (size_t i = 0; i != count; ++i) {
    const Item &item = problem.items[i];
    hashes[item.first] += hashOf(static_cast<int>(i));
    for (int s = item.first; s < item.last; ++s)
      ++crossing[s];
  }
  placements.clear();
  savedItems.clear();
  savedSections.clear();
}

void Search::markDirty(int s) {
  if (isDirty[s])
    return;
  isDirty[s] = 1;
  dirty.push_back(s);
}

void Search::markItemDirty(int item) {
  for (int s = problem.items[item].first; s <= problem.items[item].last; ++s)
    markDirty(s);
}

void Search::abandonDirty() {
  for (int s : dirty)
    isDirty[s] = 0;
  for (int s : touched)
    isTouched[s] = 0;
  dirty.clear();
  touched.clear();
}

bool Search::raise(int item, int64_t to) {
  const Item &facts = problem.items[item];
  to = alignUp(to, facts.alignment);
  if (to <= lowest[item])
    return true;
  if (to > capacity - facts.bytes) {
    ++failureCounts[facts.first];
    return false;
  }
  savedItems.push_back({item, lowest[item], raised[item] != 0});
  lowest[item] = to;
  markItemDirty(item);
  return true;
}

/// The lowest top of the items left beside this one.
int64_t Search::restingHeight(int item) const {
  int64_t height = never;
  for (int s = problem.items[item].first; s <= problem.items[item].last; ++s)
    height = std::min(height, sections[s].lowItem == item ? sections[s].nextTop
                                                          : sections[s].lowTop);
  return height;
}

bool Search::propagateSection(int s) {
  const int *first = &members[all.starts[s]];
  int count = leftCount[s];
  spending.steps += count + 1;
  if (count == 0)
    return true;
  Section now;
  now.floor = now.lowTop = now.nextTop = never;
  for (int k = 0; k != count; ++k) {
    int item = first[k];
    int64_t top = lowest[item] + sizes[item];
    now.floor = std::min(now.floor, lowest[item]);
    if (top < now.lowTop) {
      now.nextTop = now.lowTop;
      now.lowTop = top;
      now.lowItem = item;
    } else if (top < now.nextTop) {
      now.nextTop = top;
    }
  }
  Section &section = sections[s];
  now.floor = std::max(now.floor, section.floor);
  if (now.floor + leftSize[s] > roundedCapacity) {
    ++failureCounts[s];
    return false;
  }
  if (!isTouched[s]) {
    isTouched[s] = 1;
    touched.push_back(s);
  }
  bool topsChanged = now.lowTop != section.lowTop ||
                     now.nextTop != section.nextTop ||
                     now.lowItem != section.lowItem;
  if (topsChanged || now.floor != section.floor) {
    savedSections.emplace_back(s, section);
    section = now;
  }
  for (int k = 0; k != count; ++k) {
    int item = first[k];
    int64_t least = now.floor;
    if (raised[item] && topsChanged) {
      int64_t height = restingHeight(item);
      if (height == never)
        return false;
      least = std::max(least, height);
    }
    int twin = twins[item];
    if (twin >= 0 && !placed[twin])
      least = std::max(least, lowest[twin] + sizes[twin]);
    if (least > lowest[item] && !raise(item, least))
      return false;
  }
  return true;
}

/// What lies at or above the lowest offset of any one item left must fit.
bool Search::checkEnergy(int s) {
  const int *first = &members[all.starts[s]];
  int count = leftCount[s];
  // What starts from the floor has been counted with it. Of the rest, no
  // height is above the highest one, and no more lies above it than all.
  int64_t floor = sections[s].floor, highest = 0, rest = 0;
  for (int k = 0; k != count; ++k)
    if (int64_t offset = lowest[first[k]]; offset > floor) {
      highest = std::max(highest, offset);
      rest += sizes[first[k]];
    }
  if (highest + rest <= roundedCapacity)
    return true;
  spending.steps += 4 * count;
  energy.clear();
  for (int k = 0; k != count; ++k)
    if (lowest[first[k]] > floor)
      energy.emplace_back(lowest[first[k]], sizes[first[k]]);
  std::sort(energy.begin(), energy.end());
  int64_t above = 0;
  for (size_t k = energy.size(); k-- > 0;) {
    above += energy[k].second;
    if (energy[k].first + above > roundedCapacity) {
      ++failureCounts[s];
      return false;
    }
  }
  return true;
}

bool Search::propagate() {
  bool sound = true;
  for (size_t next = 0; sound && next != dirty.size(); ++next) {
    int s = dirty[next];
    isDirty[s] = 0;
    sound = propagateSection(s);
  }
  for (size_t i = 0; sound && i != touched.size(); ++i)
    sound = checkEnergy(touched[i]);
  abandonDirty();
  return sound;
}

void Search::place(int item) {
  const Item &facts = problem.items[item];
  placed[item] = 1;
  placements.push_back(item);
  hashes[facts.first] -= hashOf(item);
  int64_t top = lowest[item] + facts.size;
  for (int s = facts.first; s <= facts.last; ++s) {
    int *first = &members[all.starts[s]];
    int position = positions[positionStarts[item] + s - facts.first];
    int end = --leftCount[s];
    int other = first[end];
    std::swap(first[position], first[end]);
    positions[positionStarts[other] + s - problem.items[other].first] =
        position;
    positions[positionStarts[item] + s - facts.first] = end;
    leftSize[s] -= facts.size;
    savedSections.emplace_back(s, sections[s]);
    sections[s].floor = top;
    markDirty(s);
    if (s != facts.last)
      --crossing[s];
    // What was refused a place may rest on this item now.
    for (int k = 0; k != end; ++k)
      if (raised[first[k]]) {
        savedItems.push_back({first[k], lowest[first[k]], true});
        raised[first[k]] = 0;
      }
  }
}

void Search::unplace(int item) {
  const Item &facts = problem.items[item];
  for (int s = facts.first; s <= facts.last; ++s) {
    ++leftCount[s];
    leftSize[s] += facts.size;
    if (s != facts.last)
      ++crossing[s];
  }
  hashes[facts.first] += hashOf(item);
  placed[item] = 0;
}

Search::Mark Search::mark() const {
  return {placements.size(), savedItems.size(), savedSections.size()};
}

void Search::undo(const Mark &mark) {
  while (placements.size() > mark.placements) {
    unplace(placements.back());
    placements.pop_back();
  }
  while (savedItems.size() > mark.items) {
    const SavedItem &saved = savedItems.back();
    int item = saved.item;
    lowest[item] = saved.lowest;
    raised[item] = saved.raised;
    savedItems.pop_back();
  }
  while (savedSections.size() > mark.sections) {
    sections[savedSections.back().first] = savedSections.back().second;
    savedSections.pop_back();
  }
}

bool Search::refuseLowest(int item) {
  int64_t height = restingHeight(item);
  if (height == never)
    return false;
  savedItems.push_back({item, lowest[item], raised[item] != 0});
  raised[item] = 1;
  return raise(item, height) && propagate();
}

int Search::chooseItem(int from, int to) const {
  int64_t floor = never;
  for (int s = from; s <= to; ++s)
    if (leftCount[s] != 0)
      floor = std::min(floor, sections[s].floor);
  int best = -1;
  for (int s = from; s <= to; ++s) {
    if (leftCount[s] == 0 || sections[s].floor != floor)
      continue;
    const int *first = &members[all.starts[s]];
    for (int k = 0; k != leftCount[s]; ++k) {
      int item = first[k];
      if (lowest[item] == floor &&
          (best < 0 || (*keys)[item] > (*keys)[best] ||
           ((*keys)[item] == (*keys)[best] && item < best)))
        best = item;
    }
  }
  return best;
}

/// Says which items are left.
uint64_t Search::leftIn(int from, int to) const {
  uint64_t sum = 0;
  for (int s = from; s <= to; ++s)
    sum += hashes[s];
  return sum;
}

std::vector<int64_t> Search::lowestLeft(int from, int to) const {
  std::vector<int64_t> offsets;
  for (int item = itemStarts[from]; item != itemStarts[to + 1]; ++item)
    if (!placed[item])
      offsets.push_back(lowest[item]);
  return offsets;
}

static bool areAtLeast(const std::vector<int64_t> &offsets,
                       const std::vector<int64_t> &others) {
  return std::equal(offsets.begin(), offsets.end(), others.begin(),
                    others.end(), std::greater_equal<int64_t>());
}

bool Search::hasFailed(uint64_t left, const std::vector<int64_t> &offsets) {
  auto known = failed.find(left);
  spending.steps += static_cast<int64_t>(offsets.size() / 4);
  return known != failed.end() &&
         std::any_of(known->second.begin(), known->second.end(),
                     [&](auto &other) { return areAtLeast(offsets, other); });
}

void Search::remember(uint64_t left, std::vector<int64_t> offsets) {
  if (rememberedOffsets > mostRemembered) {
    failed.clear();
    rememberedOffsets = 0;
  }
  std::vector<std::vector<int64_t>> &alike = failed[left];
  if (alike.size() == mostAlike) {
    rememberedOffsets -= alike.front().size();
    alike.erase(alike.begin());
  }
  rememberedOffsets += offsets.size() + 16; // and the tables around them
  alike.push_back(std::move(offsets));
}

/// Solves each stretch of [from, to] apart. Only where an item was placed can
/// there be a new cut.
Search::Outcome Search::solveParts(int from, int to, int changedFrom,
                                   int changedTo) {
  int start = from;
  std::vector<std::pair<int, int>> parts;
  for (int s = std::max(from, changedFrom - 1); s < std::min(to, changedTo + 1);
       ++s)
    if (crossing[s] == 0) {
      parts.emplace_back(start, s);
      start = s + 1;
    }
  parts.emplace_back(start, to);
  // A small part fails soonest.
  std::stable_sort(parts.begin(), parts.end(), [](auto &x, auto &y) {
    return x.second - x.first < y.second - y.first;
  });
  for (auto [first, last] : parts) {
    Outcome outcome = solve(first, last);
    if (outcome != Outcome::Found)
      return outcome;
  }
  return Outcome::Found;
}

Search::Outcome Search::solve(int from, int to) {
  uint64_t left = leftIn(from, to);
  std::vector<int64_t> first;
  Mark atStart = mark();
  Outcome outcome = Outcome::Impossible;
  while (true) {
    spending.steps += to - from + 1;
    std::vector<int64_t> state = lowestLeft(from, to);
    if (hasFailed(left, state))
      break;
    int item = chooseItem(from, to);
    if (item < 0)
      return Outcome::Found; // nothing is left
    if (--nodesLeft < 0 || spending.isOver())
      return Outcome::Limit;
    if (first.empty())
      first = std::move(state);
    Mark before = mark();
    place(item);
    if (propagate()) {
      outcome = solveParts(from, to, problem.items[item].first,
                           problem.items[item].last);
      if (outcome != Outcome::Impossible)
        return outcome;
    }
    undo(before);
    if (!refuseLowest(item)) {
      abandonDirty();
      break;
    }
  }
  undo(atStart);
  // With the offsets of the start, the lowest, so that they imply all others.
  if (!first.empty())
    remember(left, std::move(first));
  return Outcome::Impossible;
}

Search::Outcome Search::run(const std::vector<double> &itemKeys,
                            int64_t nodes) {
  reset();
  keys = &itemKeys;
  nodesLeft = nodes;
  for (const Item &item : problem.items)
    if (item.bytes > capacity)
      return Outcome::Impossible;
  for (int s = 0; s != problem.sectionCount; ++s)
    markDirty(s);
  if (!propagate())
    return Outcome::Impossible;
  if (problem.sectionCount == 0)
    return Outcome::Found;
  return solveParts(0, problem.sectionCount - 1, 0, problem.sectionCount - 1);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Greedy.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ashlar::planner;

namespace {
/// Placed items by their life: a tree over the sections. An item stands at the
/// few nodes that together make up its life; a query finds what overlaps on the
/// way down to its own nodes, and below them.
class PlacedItems {
public:
  PlacedItems(const Problem &problem, const Placement &placement)
      : problem(problem), placement(placement) {
    while (leaves < problem.sectionCount)
      leaves *= 2;
    nodes.resize(2 * leaves);
  }

  void add(int item) {
    const Item &facts = problem.items[item];
    add(1, 0, leaves - 1, item, facts.first, facts.last,
        placement.offsets[item] + facts.size);
  }

  /// The top of what lives at some time of the item.
  int64_t height(int item) const {
    const Item &facts = problem.items[item];
    return height(1, 0, leaves - 1, facts.first, facts.last);
  }

  void collect(int item, std::vector<int> &found) const {
    const Item &facts = problem.items[item];
    collect(1, 0, leaves - 1, facts.first, facts.last, found);
  }

private:
  struct Node {
    int64_t height = 0;      ///< of this node's own items
    int64_t heightBelow = 0; ///< of those and of its children's
    std::vector<int> items;
  };

  void add(int node, int low, int high, int item, int first, int last,
           int64_t top) {
    if (last < low || high < first)
      return;
    nodes[node].heightBelow = std::max(nodes[node].heightBelow, top);
    if (first <= low && high <= last) {
      nodes[node].height = std::max(nodes[node].height, top);
      nodes[node].items.push_back(item);
      return;
    }
    int middle = low + (high - low) / 2;
    add(2 * node, low, middle, item, first, last, top);
    add(2 * node + 1, middle + 1, high, item, first, last, top);
  }

  int64_t height(int node, int low, int high, int first, int last) const {
    if (last < low || high < first)
      return 0;
    if (first <= low && high <= last)
      return nodes[node].heightBelow;
    int middle = low + (high - low) / 2;
    return std::max({nodes[node].height,
                     height(2 * node, low, middle, first, last),
                     height(2 * node + 1, middle + 1, high, first, last)});
  }

  void collect(int node, int low, int high, int first, int last,
               std::vector<int> &found) const {
    if (last < low || high < first || nodes[node].heightBelow == 0)
      return;
    found.insert(found.end(), nodes[node].items.begin(),
                 nodes[node].items.end());
    if (low == high)
      return;
    int middle = low + (high - low) / 2;
    collect(2 * node, low, middle, first, last, found);
    collect(2 * node + 1, middle + 1, high, first, last, found);
  }

  const Problem &problem;
  const Placement &placement;
  int leaves = 1;
  std::vector<Node> nodes;
};
} // namespace

Placement ashlar::planner::placeInOrder(const Problem &problem,
                                        const std::vector<int> &order,
                                        int64_t gapSteps) {
  Placement result;
  result.offsets.assign(problem.items.size(), 0);
  PlacedItems placed(problem, result);
  std::vector<int> beside;
  for (int item : order) {
    const Item &facts = problem.items[item];
    int64_t offset = 0;
    if (gapSteps > 0) {
      beside.clear();
      placed.collect(item, beside);
      gapSteps -= static_cast<int64_t>(beside.size()) + 1;
      std::sort(beside.begin(), beside.end(), [&](int x, int y) {
        return result.offsets[x] != result.offsets[y]
                   ? result.offsets[x] < result.offsets[y]
                   : x < y;
      });
      for (int other : beside) {
        if (result.offsets[other] - offset >= facts.size)
          break;
        offset = std::max(
            offset, alignUp(result.offsets[other] + problem.items[other].size,
                            facts.alignment));
      }
    } else {
      offset = alignUp(placed.height(item), facts.alignment);
    }
    result.offsets[item] = offset;
    result.peak = std::max(result.peak, offset + facts.bytes);
    placed.add(item);
  }
  return result;
}

/// The items with the largest key first; of equal ones the first.
static std::vector<int> orderBy(const std::vector<double> &keys) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int x, int y) { return keys[x] > keys[y]; });
  return order;
}

Placement ashlar::planner::placeGreedily(const Problem &problem,
                                         Spending &spending) {
  size_t count = problem.items.size();
  auto gapSteps = static_cast<int64_t>(1e6 + 8 * static_cast<double>(count) *
                                                 std::log2(count + 2.0));
  std::vector<double> keys(count);
  Placement best;
  auto consider = [&](auto key) {
    for (size_t i = 0; i != count; ++i)
      keys[i] = key(problem.items[i]);
    Placement found = placeInOrder(problem, orderBy(keys), gapSteps);
    if (best.offsets.empty() || found.peak < best.peak)
      best = std::move(found);
    return best.peak == problem.largest.bytes || spending.isOutOfTime();
  };
  auto length = [](const Item &item) { return item.last - item.first + 1.0; };
  auto size = [](const Item &item) { return static_cast<double>(item.size); };
  auto area = [&](const Item &item) { return size(item) * length(item); };
  auto begin = [](const Item &item) { return -1.0 * item.first; };
  auto life = [&](const Item &item) {
    return length(item) * 1e18 + size(item);
  };
  if (consider(size) || consider(area) || consider(life) || consider(begin))
    return best;
  // Where most is alive first.
  auto load = [&](const Item &item) {
    return static_cast<double>(
        *std::max_element(problem.loads.begin() + item.first,
                          problem.loads.begin() + item.last + 1));
  };
  if (problem.memberCount <= mostMembers)
    consider([&](const Item &item) { return load(item) * 1e18 + size(item); });
  return best;
}

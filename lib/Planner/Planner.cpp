// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From greedy orders to the exact search: what is tried for how long.
#include "ashlar/Planner/Planner.h"
#include "Greedy.h"
#include "Search.h"
#include "ashlar/Planner/Generate.h"
#include <algorithm>
#include <cmath>

using namespace ashlar::planner;

namespace {
/// The search is as deep as its items are many, and every step of it looks at
/// many of them.
constexpr size_t mostItems = 5000;

/// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8: as good as any for restarts whose times are
/// not known (Luby, Sinclair, Zuckerman 1993).
int64_t luby(int64_t i) {
  int64_t size = 1;
  while (size < i + 1)
    size = 2 * size + 1;
  while (size - 1 != i) {
    size = (size - 1) / 2;
    i %= size;
  }
  return (size + 1) / 2;
}

/// Searches one capacity again and again with other orders, in turns that grow.
class Restarts {
public:
  Restarts(const Problem &problem, int64_t capacity, Spending &spending)
      : problem(problem), search(problem, capacity, spending),
        random(0x4153484C4152), keys(problem.items.size()) {}

  /// Until the answer is known or the limits are met.
  Search::Outcome run(Spending &spending) {
    while (!spending.isOver()) {
      chooseKeys();
      Search::Outcome outcome = search.run(keys, turnNodes * luby(turn++));
      if (outcome != Search::Outcome::Limit)
        return outcome;
    }
    return Search::Outcome::Limit;
  }

  const std::vector<int64_t> &offsets() const { return search.offsets(); }

private:
  static constexpr int64_t turnNodes = 500;

  /// Long lives go first, and large sizes, to a degree that changes from turn
  /// to turn. Items of sections where branches failed are favoured, and all is
  /// shaken a little.
  void chooseKeys() {
    const std::vector<int64_t> &failures = search.failures();
    double degree = turn == 0 ? 1 : turn == 1 ? 0.2 : 1.2 * random.fraction();
    for (size_t i = 0; i != keys.size(); ++i) {
      const Item &item = problem.items[i];
      keys[i] = (item.last - item.first + 1) *
                std::pow(static_cast<double>(item.size), degree);
      if (turn < 2)
        continue;
      int64_t most = *std::max_element(failures.begin() + item.first,
                                       failures.begin() + item.last + 1);
      keys[i] *=
          static_cast<double>(most) * (1 + shaking * (random.fraction() - 0.5));
    }
  }

  static constexpr double shaking = 0.3;
  const Problem &problem;
  Search search;
  Random random;
  std::vector<double> keys;
  int64_t turn = 0;
};

/// A problem, the best plan so far, and what is left to spend.
class Planning {
public:
  Planning(const std::vector<Buffer> &buffers, const Limits &limits)
      : problem(buffers), spending(limits),
        best(placeGreedily(problem, spending)), greedyPeak(best.peak),
        least(problem.largest.bytes), bufferCount(buffers.size()) {
    if (limits.progress)
      spending.progress = [this, &limits] { limits.progress(best.peak); };
  }

  bool canSearch() const {
    return problem.items.size() <= mostItems &&
           problem.memberCount <= mostMembers;
  }

  bool isOver() { return best.peak <= least || spending.isOver(); }
  int64_t peak() const { return best.peak; }
  int64_t lowest() const { return least; }

  /// Looks for a plan within the capacity, for a share of what is left to
  /// spend. True if the answer is known.
  bool tryCapacity(int64_t capacity, double share) {
    Spending all = spending;
    spending.reduceTo(share);
    Restarts restarts(problem, capacity, spending);
    Search::Outcome outcome = restarts.run(spending);
    spending.extendTo(all);
    if (outcome == Search::Outcome::Found) {
      best.offsets = restarts.offsets();
      best.peak = 0;
      for (size_t i = 0; i != problem.items.size(); ++i)
        best.peak =
            std::max(best.peak, best.offsets[i] + problem.items[i].bytes);
    } else if (outcome == Search::Outcome::Impossible) {
      least = capacity + 1;
    }
    return outcome != Search::Outcome::Limit;
  }

  Plan finish() const {
    Plan plan;
    plan.offsets.assign(bufferCount, 0);
    for (size_t i = 0; i != problem.items.size(); ++i)
      plan.offsets[problem.items[i].buffer] = best.offsets[i];
    plan.peak = best.peak;
    plan.lowerBound = problem.largest.bytes;
    plan.greedyPeak = greedyPeak;
    plan.steps = spending.steps;
    plan.provenBound = least;
    return plan;
  }

private:
  Problem problem;
  Spending spending;
  Placement best;
  int64_t greedyPeak;
  int64_t least; ///< nothing lower exists
  size_t bufferCount;
};
} // namespace

Load ashlar::planner::findLargestLoad(const std::vector<Buffer> &buffers) {
  return Problem(buffers).largest;
}

Plan ashlar::planner::planGreedily(const std::vector<Buffer> &buffers) {
  Limits none;
  none.steps = 0;
  return Planning(buffers, none).finish();
}

/// Most problems can be solved at their lower bound, and a given capacity is
/// what is asked for: `target` is tried first and longest. What is left is
/// spent on halving the distance to it, until a peak of at most `enough`.
static Plan searchFrom(Planning &planning, int64_t target, int64_t enough) {
  if (!planning.canSearch() || target < planning.lowest())
    return planning.finish();
  double share = 0.75;
  while (planning.peak() > enough && !planning.isOver()) {
    bool known = planning.tryCapacity(target, share);
    int64_t low = known ? planning.lowest() : target + 1;
    if (low >= planning.peak())
      break;
    target = low + (planning.peak() - 1 - low) / 2;
    share = 0.3;
  }
  return planning.finish();
}

Plan ashlar::planner::planWithin(const std::vector<Buffer> &buffers,
                                 int64_t capacity, const Limits &limits) {
  Planning planning(buffers, limits);
  return searchFrom(planning, capacity, capacity);
}

Plan ashlar::planner::planLowest(const std::vector<Buffer> &buffers,
                                 const Limits &limits) {
  Planning planning(buffers, limits);
  return searchFrom(planning, planning.lowest(), planning.lowest());
}

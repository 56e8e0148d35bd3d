// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One item after the other, each at the lowest place that is free for its life.
#ifndef ASHLAR_LIB_PLANNER_GREEDY_H
#define ASHLAR_LIB_PLANNER_GREEDY_H

#include "Problem.h"
#include "Spending.h"

namespace ashlar::planner {

struct Placement {
  std::vector<int64_t> offsets; ///< by item
  int64_t peak = 0;
};

/// Places the items in this order. Looking for gaps costs as many steps as
/// items overlap; once `gapSteps` are spent the rest is put on top of what
/// shares its life, which costs n log n.
Placement placeInOrder(const Problem &problem, const std::vector<int> &order,
                       int64_t gapSteps);

/// The lowest of several orders: by size, by area, by length of life, by the
/// load that an item lives under, and by time. At least one is tried, however
/// little time there is.
Placement placeGreedily(const Problem &problem, Spending &spending);

} // namespace ashlar::planner

#endif // ASHLAR_LIB_PLANNER_GREEDY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan may cost: steps, which are the same on every run, and time, for
// those who ask for it.
#ifndef ASHLAR_LIB_PLANNER_SPENDING_H
#define ASHLAR_LIB_PLANNER_SPENDING_H

#include "ashlar/Planner/Planner.h"
#include <chrono>
#include <optional>

namespace ashlar::planner {

class Spending {
public:
  explicit Spending(const Limits &limits);

  bool isOver();
  /// Looks at the clock at once, as only rare callers may.
  bool isOutOfTime();

  /// Leaves this share of what is left.
  void reduceTo(double share);
  /// Goes back to earlier limits, keeping what was spent since.
  void extendTo(const Spending &limits);

  int64_t steps = 0;
  std::function<void()> progress; ///< called now and then

private:
  using Clock = std::chrono::steady_clock;

  int64_t most;
  std::optional<Clock::time_point> end;
  unsigned sinceClock = 0;
  bool outOfTime = false;
};

} // namespace ashlar::planner

#endif // ASHLAR_LIB_PLANNER_SPENDING_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ashlar-plan says about a plan, on stderr.
#ifndef ASHLAR_TOOLS_ASHLAR_PLAN_REPORT_H
#define ASHLAR_TOOLS_ASHLAR_PLAN_REPORT_H

#include "ashlar/Planner/PlanFile.h"

namespace ashlar::tools {

/// "peak=... lower_bound=... optimal=yes|no seconds=..."
std::string planLine(const planner::Plan &plan, double seconds);

/// Why nothing fits: the moment that needs most, and what is alive then.
std::string describeLoad(const planner::NamedBuffers &named,
                         const planner::Load &load, int64_t capacity);

/// "1.8% above the lower bound"
std::string describeDistance(int64_t peak, int64_t lowerBound);

/// A line on a terminal that shows that a search goes on; nothing in a pipe.
class SearchLine {
public:
  SearchLine(int64_t lowerBound);
  ~SearchLine();
  void show(int64_t peak);

private:
  int64_t lowerBound;
  bool isTerminal, isShown = false;
  double start;
};

double secondsNow();

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_PLAN_REPORT_H

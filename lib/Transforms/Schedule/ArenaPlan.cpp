// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArenaPlan.h"
#include "ashlar/Planner/Planner.h"
#include "llvm/Support/MathExtras.h"

using namespace ashlar;

/// Every buffer a kernel is given starts on a cache line.
static constexpr int64_t alignment = 64;

/// About a second. Counted in steps, so that every machine gives equal bytes;
/// most models need none, for a greedy order meets their lower bound.
static constexpr int64_t mostSteps = 150'000'000;

ArenaPlan ashlar::planArena(llvm::ArrayRef<ArenaRequest> requests) {
  std::vector<planner::Buffer> buffers;
  for (const ArenaRequest &request : requests)
    buffers.push_back({request.lower, request.upper,
                       int64_t(llvm::alignTo(request.bytes, alignment)),
                       alignment});
  planner::Limits limits;
  limits.steps = mostSteps;
  planner::Plan plan = planner::planLowest(buffers, limits);
  ArenaPlan result;
  result.offsets.assign(plan.offsets.begin(), plan.offsets.end());
  result.bytes = plan.peak;
  result.lowerBound = plan.lowerBound;
  return result;
}

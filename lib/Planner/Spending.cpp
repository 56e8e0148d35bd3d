// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Spending.h"

using namespace ashlar::planner;

Spending::Spending(const Limits &limits) : most(limits.steps) {
  if (limits.seconds > 0)
    end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(limits.seconds));
}

bool Spending::isOutOfTime() {
  if (end)
    outOfTime |= Clock::now() >= *end;
  return outOfTime;
}

bool Spending::isOver() {
  if (++sinceClock % 256 == 0)
    isOutOfTime();
  if (sinceClock % 65536 == 0 && progress)
    progress();
  return outOfTime || steps >= most;
}

void Spending::reduceTo(double share) {
  most =
      steps + static_cast<int64_t>(share * static_cast<double>(most - steps));
  if (end) {
    Clock::time_point now = Clock::now();
    end =
        now + std::chrono::duration_cast<Clock::duration>(share * (*end - now));
  }
}

void Spending::extendTo(const Spending &limits) {
  most = limits.most;
  end = limits.end;
  outOfTime = false;
  isOutOfTime();
}

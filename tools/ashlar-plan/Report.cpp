// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Report.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

using namespace ashlar::planner;

namespace ashlar::tools {

double secondsNow() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string planLine(const Plan &plan, double seconds) {
  char time[32];
  std::snprintf(time, sizeof(time), "%.3f", seconds);
  return "peak=" + std::to_string(plan.peak) +
         " lower_bound=" + std::to_string(plan.lowerBound) +
         " optimal=" + (plan.isOptimal() ? "yes" : "no") + " seconds=" + time;
}

std::string describeDistance(int64_t peak, int64_t lowerBound) {
  if (peak <= lowerBound || lowerBound == 0)
    return "at the lower bound";
  char text[48];
  std::snprintf(text, sizeof(text), "%.2f%% above the lower bound",
                100 * (double(peak) / double(lowerBound) - 1));
  return text;
}

std::string describeLoad(const NamedBuffers &named, const Load &load,
                         int64_t capacity) {
  std::vector<size_t> live;
  for (size_t i = 0; i != named.buffers.size(); ++i)
    if (named.buffers[i].lower <= load.time &&
        load.time < named.buffers[i].upper && named.buffers[i].bytes != 0)
      live.push_back(i);
  std::stable_sort(live.begin(), live.end(), [&](size_t x, size_t y) {
    return named.buffers[x].bytes > named.buffers[y].bytes;
  });
  std::string text =
      "expected a capacity of at least " + std::to_string(load.bytes) +
      " bytes, found " + std::to_string(capacity) + ": at time " +
      std::to_string(load.time) + " " + std::to_string(live.size()) +
      " buffers are alive that need as much:";
  constexpr size_t shown = 20;
  for (size_t i = 0; i != std::min(live.size(), shown); ++i)
    text += "\n  " + named.ids[live[i]] + ": " +
            std::to_string(named.buffers[live[i]].bytes) + " bytes";
  if (live.size() > shown)
    text += "\n  and " + std::to_string(live.size() - shown) + " smaller ones";
  return text;
}

SearchLine::SearchLine(int64_t lowerBound)
    : lowerBound(lowerBound), isTerminal(isatty(STDERR_FILENO)),
      start(secondsNow()) {}

SearchLine::~SearchLine() {
  if (isShown)
    std::fputs("\r\033[K", stderr);
}

void SearchLine::show(int64_t peak) {
  double seconds = secondsNow() - start;
  if (!isTerminal || seconds < 2)
    return;
  isShown = true;
  std::fprintf(stderr, "\rsearching, %.0f s; the best so far is %s\033[K",
               seconds, describeDistance(peak, lowerBound).c_str());
}

} // namespace ashlar::tools

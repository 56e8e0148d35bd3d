// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelTimes.h"

#include "Failure.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <set>

namespace ashlar::tools {

namespace {
struct Interval {
  double begin, end; // microseconds
};
using Intervals = std::vector<Interval>;

/// The spans of one traced session.
struct Spans {
  Intervals runs;
  std::map<std::string, Intervals> kernels;
  std::map<std::string, std::set<int64_t>> workers; // who computed a kernel
};
} // namespace

double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

static void sortByBegin(Intervals &intervals) {
  std::sort(
      intervals.begin(), intervals.end(),
      [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
}

static Spans readSpans(const std::string &file) {
  constexpr uint64_t most = uint64_t(1) << 32;
  auto trace = nlohmann::json::parse(readWholeFile(file, most));
  Spans spans;
  for (const auto &event : trace.at("traceEvents")) {
    // Names of lines and counters take no time.
    if (event.at("ph") != "X")
      continue;
    double begin = event.at("ts"), length = event.at("dur");
    std::string label = event.at("name");
    // Lines that are no thread of ours have numbers that no process has.
    bool isLine = event.at("pid") >= 1000000000;
    if (isLine && label.compare(0, 4, "run ") == 0) {
      spans.runs.push_back({begin, begin + length});
      continue;
    }
    // "SESSION: KERNEL"
    size_t colon = label.rfind(": ");
    std::string kernel = colon == label.npos ? label : label.substr(colon + 2);
    spans.kernels[kernel].push_back({begin, begin + length});
    spans.workers[kernel].insert(event.at("tid").get<int64_t>());
  }
  sortByBegin(spans.runs);
  for (auto &[kernel, intervals] : spans.kernels)
    sortByBegin(intervals);
  return spans;
}

/// How long any of the sorted intervals from `next` on goes on that begin
/// before `end`. Workers compute parts of a kernel at the same time.
static double takeUntil(const Intervals &intervals, size_t &next, double end) {
  double total = 0, covered = 0;
  for (; next != intervals.size() && intervals[next].begin < end; ++next) {
    double begin = std::max(intervals[next].begin, covered);
    total += std::max(0.0, intervals[next].end - begin);
    covered = std::max(covered, intervals[next].end);
  }
  return total;
}

static void takeMedians(const Spans &spans, KernelTimes &times) {
  // The first run meets cold caches.
  size_t first = spans.runs.size() > 1 ? 1 : 0;
  std::vector<double> lengths;
  for (size_t run = first; run < spans.runs.size(); ++run)
    lengths.push_back(spans.runs[run].end - spans.runs[run].begin);
  times.runs = lengths.size();
  times.runMicroseconds = medianOf(lengths);
  for (const auto &[kernel, intervals] : spans.kernels) {
    std::vector<double> totals;
    size_t next = 0;
    for (size_t run = 0; run != spans.runs.size(); ++run) {
      double total = takeUntil(intervals, next, spans.runs[run].end);
      if (run >= first)
        totals.push_back(total);
    }
    times.microseconds[kernel] = medianOf(totals);
    times.workers[kernel] = spans.workers.at(kernel).size();
  }
}

KernelTimes measureKernels(RunnerFlags flags, double seconds,
                           const std::string &trace) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t fewestRuns = 4, mostRuns = 300;
  flags.trace = trace;
  KernelTimes times;
  {
    ModuleRunner runner(flags);
    runner.prepareRandom();
    size_t runs = 0;
    Clock::time_point start = Clock::now();
    while (runs < fewestRuns ||
           (runs < mostRuns &&
            std::chrono::duration<double>(Clock::now() - start).count() <
                seconds)) {
      runner.run();
      ++runs;
    }
    runner.finish();
    ashlar_module_info_t module = runner.moduleInfo();
    times.device = module.device;
    times.target = module.target;
    times.preset = module.preset;
    times.threads = runner.sessionStatistics().threads;
  }
  takeMedians(readSpans(trace), times);
  return times;
}

} // namespace ashlar::tools

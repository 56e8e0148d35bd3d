// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelTimes.h"

#include "Failure.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace ashlar::tools {

double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

/// On one thread, calls are recorded in their order, and each run has as many
/// of a kernel as any other.
static std::map<std::string, double> readTrace(const std::string &file,
                                               size_t runs) {
  constexpr uint64_t most = uint64_t(1) << 32;
  auto trace = nlohmann::json::parse(readWholeFile(file, most));
  std::map<std::string, std::vector<double>> calls;
  for (const auto &event : trace.at("traceEvents")) {
    // Names of lines and counters take no time.
    if (event.at("ph") != "X")
      continue;
    // "SESSION: KERNEL"
    std::string label = event.at("name");
    size_t colon = label.rfind(": ");
    calls[colon == label.npos ? label : label.substr(colon + 2)].push_back(
        event.at("dur"));
  }
  std::map<std::string, double> times;
  for (const auto &[kernel, durations] : calls) {
    size_t each = durations.size() / runs;
    std::vector<double> totals;
    for (size_t begin = 0; each && begin + each <= durations.size();
         begin += each) {
      double total = 0;
      for (size_t i = begin; i != begin + each; ++i)
        total += durations[i];
      totals.push_back(total);
    }
    // The first run meets cold caches.
    if (totals.size() > 1)
      totals.erase(totals.begin());
    times[kernel] = medianOf(totals);
  }
  return times;
}

std::map<std::string, double> measureKernels(RunnerFlags flags, double seconds,
                                             const std::string &trace) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t fewestRuns = 4, mostRuns = 300;
  flags.threads = 1;
  flags.trace = trace;
  ModuleRunner runner(flags);
  runner.prepareInputs(/*fillIn=*/true);
  runner.prepareOutputs();
  runner.bind();
  size_t runs = 0;
  Clock::time_point start = Clock::now();
  while (
      runs < fewestRuns ||
      (runs < mostRuns &&
       std::chrono::duration<double>(Clock::now() - start).count() < seconds)) {
    runner.run();
    ++runs;
  }
  runner.finish();
  return readTrace(trace, runs);
}

} // namespace ashlar::tools

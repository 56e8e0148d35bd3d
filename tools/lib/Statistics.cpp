// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace ashlar::tools {

using Json = nlohmann::ordered_json;

static std::string dump(const Json &json) {
  // Names come from files: bytes that are no UTF-8 must not stop the output.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string formatStatistics(const ModuleRunner &runner, bool json) {
  ashlar_module_info_t module = runner.moduleInfo();
  ashlar_session_statistics_t session = runner.sessionStatistics();
  ashlar_budget_statistics_t budget = runner.budgetStatistics();
  if (json) {
    Json out;
    out["device"] = module.device;
    out["target"] = module.target;
    out["preset"] = module.preset;
    out["threads"] = session.threads;
    out["load_us"] = double(module.load_ns) / 1e3;
    out["last_run_ms"] = double(session.last_run_ns) / 1e6;
    out["runs"] = session.runs;
    out["fallbacks"] = module.fallbacks;
    out["staged_tensors"] = session.staged_tensors;
    out["staged_bytes"] = session.staged_bytes;
    out["weights_bytes"] = module.weights_bytes;
    out["code_bytes"] = module.code_bytes;
    out["arena_bytes"] = session.arena_bytes;
    out["scratch_bytes"] = session.scratch_bytes;
    out["current_bytes"] = budget.current;
    out["peak_bytes"] = budget.peak;
    out["placement"] = module.placement_log;
    return dump(out);
  }
  char buffer[1024];
  std::snprintf(
      buffer, sizeof(buffer),
      "device      %s, program %s:%s, %u thread%s\nload        %.3f ms\n"
      "last run    %.3f ms\nweights     %s\ncode        %s\narena       %s\n"
      "scratch     %s\npeak        %s\nstaged      %llu tensors, %s\n",
      module.device, module.target, module.preset, session.threads,
      session.threads == 1 ? "" : "s", double(module.load_ns) / 1e6,
      double(session.last_run_ns) / 1e6,
      formatBytes(module.weights_bytes).c_str(),
      formatBytes(module.code_bytes).c_str(),
      formatBytes(session.arena_bytes).c_str(),
      formatBytes(session.scratch_bytes).c_str(),
      formatBytes(budget.peak).c_str(),
      static_cast<unsigned long long>(session.staged_tensors),
      formatBytes(session.staged_bytes).c_str());
  return buffer;
}

double Measurement::quantileMs(double share) const {
  if (nanoseconds.empty())
    return 0;
  auto index = size_t(share * double(nanoseconds.size() - 1) + 0.5);
  return double(nanoseconds[index]) / 1e6;
}

Measurement measureRuns(ModuleRunner &runner, double seconds, unsigned warmup) {
  using Clock = std::chrono::steady_clock;
  for (unsigned i = 0; i < warmup; ++i)
    runner.run();
  // Enough for a minute of the shortest runs; then memory would grow.
  constexpr size_t mostRuns = 50000000, fewestRuns = 10;
  Measurement result;
  Clock::time_point start = Clock::now(), before = start;
  while (result.nanoseconds.size() < mostRuns) {
    runner.run();
    Clock::time_point after = Clock::now();
    result.nanoseconds.push_back(uint64_t(
        std::chrono::duration_cast<std::chrono::nanoseconds>(after - before)
            .count()));
    before = after;
    if (std::chrono::duration<double>(after - start).count() >= seconds &&
        result.nanoseconds.size() >= fewestRuns)
      break;
  }
  std::sort(result.nanoseconds.begin(), result.nanoseconds.end());
  return result;
}

std::string formatMeasurement(const ModuleRunner &runner,
                              const Measurement &measurement, bool json) {
  ashlar_module_info_t module = runner.moduleInfo();
  uint32_t threads = runner.sessionStatistics().threads;
  uint64_t peak = runner.budgetStatistics().peak;
  double median = measurement.quantileMs(0.5);
  double least = measurement.quantileMs(0), high = measurement.quantileMs(0.99);
  if (json) {
    Json out;
    out["median_ms"] = median;
    out["min_ms"] = least;
    out["p99_ms"] = high;
    out["runs"] = measurement.nanoseconds.size();
    out["load_us"] = double(module.load_ns) / 1e3;
    out["peak_bytes"] = peak;
    out["device"] = module.device;
    out["threads"] = threads;
    return dump(out);
  }
  char buffer[512];
  std::snprintf(buffer, sizeof(buffer),
                "median   %.4f ms\nmin      %.4f ms\np99      %.4f ms\n"
                "runs     %zu\nload     %.3f ms\nmemory   %s\n"
                "device   %s, %u thread%s\n",
                median, least, high, measurement.nanoseconds.size(),
                double(module.load_ns) / 1e6, formatBytes(peak).c_str(),
                module.device, threads, threads == 1 ? "" : "s");
  return buffer;
}

} // namespace ashlar::tools

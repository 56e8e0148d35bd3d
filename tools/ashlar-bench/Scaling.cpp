// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scaling.h"

#include "Failure.h"
#include "TextTable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <memory>

namespace ashlar::tools {

using Json = nlohmann::ordered_json;

/// What else the machine does is spread over all.
static constexpr unsigned rounds = 5;

namespace {
struct Measured {
  std::unique_ptr<ModuleRunner> runner;
  Measurement measurement;
};
} // namespace

std::vector<uint32_t> readThreads(const std::string &text) {
  std::vector<uint32_t> threads;
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    uint32_t number = 0;
    auto [last, error] =
        std::from_chars(text.data() + begin, text.data() + end, number);
    if (error != std::errc() || last != text.data() + end || number == 0 ||
        number > RunnerFlags::mostThreads)
      throw Failure(WrongUsage,
                    "--threads=" + text + ": expected N or N,N,... from 1 to " +
                        std::to_string(RunnerFlags::mostThreads) + ", found '" +
                        text.substr(begin, end - begin) + "'");
    if (std::find(threads.begin(), threads.end(), number) != threads.end())
      throw Failure(WrongUsage, "--threads=" + text + ": " +
                                    std::to_string(number) +
                                    " is given twice; expected it once");
    threads.push_back(number);
    begin = end + 1;
  }
  return threads;
}

static void append(Measurement &all, const Measurement &more) {
  all.nanoseconds.insert(all.nanoseconds.end(), more.nanoseconds.begin(),
                         more.nanoseconds.end());
  std::sort(all.nanoseconds.begin(), all.nanoseconds.end());
}

static std::vector<Measured> measureAll(RunnerFlags flags,
                                        const std::vector<uint32_t> &threads,
                                        double seconds, unsigned warmup) {
  std::vector<Measured> all;
  for (uint32_t number : threads) {
    flags.threads = number;
    auto runner = std::make_unique<ModuleRunner>(flags);
    runner->prepareRandom();
    all.push_back({std::move(runner), {}});
  }
  for (unsigned round = 0; round != rounds; ++round)
    for (Measured &each : all)
      append(each.measurement,
             measureRuns(*each.runner, seconds / rounds, warmup));
  return all;
}

std::string measureScaling(RunnerFlags flags,
                           const std::vector<uint32_t> &threads, double seconds,
                           unsigned warmup, bool json) {
  constexpr auto Right = TextTable::Align::Right;
  std::vector<Measured> all = measureAll(flags, threads, seconds, warmup);
  TextTable table(
      {"threads", "median ms", "min ms", "p99 ms", "runs", "times as fast"},
      std::vector<TextTable::Align>(6, Right));
  Json out;
  out["by_threads"] = Json::array();
  const double first = all.front().measurement.quantileMs(0.5);
  for (const Measured &each : all) {
    const Measurement &measurement = each.measurement;
    // The session may take fewer than it is given.
    uint32_t number = each.runner->sessionStatistics().threads;
    double median = measurement.quantileMs(0.5);
    double speed = median > 0 ? first / median : 0;
    Json one = Json::parse(formatMeasurement(*each.runner, measurement, true));
    one["speedup"] = speed;
    out["by_threads"].push_back(one);
    table.add({std::to_string(number), formatNumber("%.4f", median),
               formatNumber("%.4f", measurement.quantileMs(0)),
               formatNumber("%.4f", measurement.quantileMs(0.99)),
               std::to_string(measurement.nanoseconds.size()),
               formatNumber("%.2f", speed)});
  }
  if (json)
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return table.format(outputColumns());
}

} // namespace ashlar::tools

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What servers ask of runs: that they end in time, that tenants get their
// shares of the workers, and that somebody counts.

#include "Loaded.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <thread>

using namespace ashlar::test;
using Clock = std::chrono::steady_clock;

namespace {

constexpr uint64_t millisecond = 1000000;

class Serving : public testing::Test {
protected:
  void open(uint32_t workerLimit) {
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    options.threads = 1;
    options.worker_limit = workerLimit;
    ASSERT_OK(ashlar_runtime_create(&options, &runtime));
    for (int i = 0; i < 2; ++i)
      ASSERT_OK(ashlar_budget_create(runtime, i ? "modest" : "greedy",
                                     ASHLAR_UNLIMITED, &tenants[i]));
  }
  void load(ModuleBuilder builder) {
    bytes = std::make_unique<ModuleBytes>(builder.build());
    ashlar_load_options_t options = trusting();
    ASSERT_OK(ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                        &options, &module));
    ASSERT_OK(ashlar_module_entry_at(module, 0, &entry));
  }
  ashlar_session_t *session(ashlar_budget_t *budget, int32_t priority = 0) {
    ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
    options.priority = priority;
    ashlar_session_t *made = nullptr;
    EXPECT_CODE(ASHLAR_OK,
                ashlar_session_create(module, budget, &options, &made));
    return made;
  }
  ashlar_status_t run(ashlar_session_t *on, uint64_t timeout = 0) {
    return ashlar_session_run_within(on, entry, nullptr, 0, nullptr, 0,
                                     timeout);
  }
  static ashlar_stats_t stats(const ashlar_budget_t *of) {
    ashlar_stats_t stats = ASHLAR_STATS_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_stats_query(of, &stats));
    return stats;
  }
  void TearDown() override {
    ashlar_module_release(module);
    for (ashlar_budget_t *each : tenants)
      ashlar_budget_release(each);
    ashlar_runtime_release(runtime);
  }
  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *tenants[2] = {};
  ashlar_module_t *module = nullptr;
  ashlar_entry_t *entry = nullptr;
  std::unique_ptr<ModuleBytes> bytes;
};

// About a second of one worker, in groups of some microseconds.
ModuleBuilder longModule() { return spinningModule(2000, 200000); }

TEST_F(Serving, StatisticsAddUp) {
  open(0);
  load(checkingModule());
  ashlar_budget_t *below = nullptr;
  ASSERT_OK(ashlar_budget_create_below(tenants[0], "m\"odel", ASHLAR_UNLIMITED,
                                       &below));
  ashlar_session_t *one = session(below);
  SampleArguments a, unaligned(sampleCount, 4);
  a.x[0] = unaligned.x[0] = 1;
  for (int i = 0; i < 5; ++i)
    ASSERT_OK(ashlar_session_run_entry(one, entry, a.inputs, 1, a.outputs, 1));
  ASSERT_OK(ashlar_session_run_entry(one, entry, unaligned.inputs, 1,
                                     unaligned.outputs, 1));
  a.x[0] = -2; // which the kernel refuses
  EXPECT_CODE(ASHLAR_INTERNAL,
              ashlar_session_run_entry(one, entry, a.inputs, 1, a.outputs, 1));
  // They outlive the session, and every budget above has them.
  for (int round = 0; round < 2; ++round) {
    for (const ashlar_budget_t *each : {below, tenants[0]}) {
      ashlar_stats_t now = stats(each);
      EXPECT_EQ(now.runs, 6u);
      EXPECT_EQ(now.failures, 1u);
      EXPECT_EQ(now.cancelled, 0u);
      EXPECT_EQ(now.copies, 2u);
      EXPECT_EQ(now.copied_bytes, 2u * sampleCount * sizeof(float));
      EXPECT_EQ(now.running.count, 7u);
      EXPECT_EQ(now.waiting.count, 7u);
      EXPECT_GT(now.running.sum_ns, 0u);
      uint64_t sum = 0, atLeast = 0, atMost = 0;
      for (int i = 0; i < ASHLAR_HISTOGRAM_BUCKETS; ++i) {
        sum += now.running.buckets[i];
        atLeast += now.running.buckets[i] * (i ? uint64_t(512) << i : 0);
        atMost += now.running.buckets[i] * (uint64_t(1024) << i);
      }
      EXPECT_EQ(sum, 7u);
      EXPECT_LE(atLeast, now.running.sum_ns);
      EXPECT_GE(atMost, now.running.sum_ns);
    }
    EXPECT_EQ(stats(tenants[1]).runs, 0u);
    ashlar_session_release(one);
    one = nullptr;
  }
  ashlar_budget_release(below);
}

/// Checks the text as the format's description says it is to be read: families
/// one after the other, each with its type, names and labels well formed,
/// histograms that only grow. Gives values by name and labels.
std::map<std::string, double> readPrometheus(const std::string &text) {
  std::map<std::string, double> values;
  std::map<std::string, std::string> types;
  std::string family;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string first, second, third;
    words >> first >> second;
    if (first == "#" && second == "HELP")
      continue;
    if (first == "#") {
      EXPECT_EQ(second, "TYPE") << line;
      words >> family >> third;
      EXPECT_TRUE(types.emplace(family, third).second)
          << family << " comes twice";
      continue;
    }
    size_t open = line.find('{'), close = line.rfind("} ");
    if (open == line.npos || close == line.npos) { // no labels
      EXPECT_EQ(open, close) << line;
      EXPECT_EQ(first, family) << line;
      values[first] = std::stod(second);
      continue;
    }
    std::string name = line.substr(0, open), base = name;
    for (const char *suffix : {"_bucket", "_sum", "_count"})
      if (types[family] == "histogram" && name == family + suffix)
        base = family;
    EXPECT_EQ(base, family) << line;
    // label="text", with \\ before quotes and itself.
    bool inText = false;
    for (size_t i = open + 1; i < close; ++i) {
      if (inText && line[i] == '\\')
        ++i;
      else if (line[i] == '"')
        inText = !inText;
      else if (!inText)
        EXPECT_TRUE(isalpha(line[i]) || line[i] == '=' || line[i] == ',')
            << line;
    }
    EXPECT_FALSE(inText) << line;
    char *end = nullptr;
    double value = std::strtod(line.c_str() + close + 2, &end);
    EXPECT_EQ(*end, 0) << line;
    EXPECT_TRUE(values.emplace(line.substr(0, close + 1), value).second)
        << line;
  }
  return values;
}

TEST_F(Serving, PrometheusReadsTheSame) {
  open(0);
  load(sampleModule());
  ashlar_budget_t *odd = nullptr;
  ASSERT_OK(ashlar_budget_create_below(tenants[0], "a\"b\\c\nd", 5000, &odd));
  ashlar_session_t *one = session(odd);
  SampleArguments a;
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(ashlar_session_run_entry(one, entry, a.inputs, 2, a.outputs, 1));
  size_t length = 0;
  ASSERT_OK(ashlar_stats_prometheus(runtime, nullptr, 0, &length));
  std::string text(length, '?');
  size_t again = 0;
  ASSERT_OK(ashlar_stats_prometheus(runtime, text.data(), length + 1, &again));
  EXPECT_EQ(again, length);
  EXPECT_EQ(text.size(), std::strlen(text.c_str()));
  auto values = readPrometheus(text);
  const std::string label = R"(budget="runtime/greedy/a\"b\\c d")";
  EXPECT_EQ(values["ashlar_memory_limit_bytes{" + label + "}"], 5000);
  EXPECT_EQ(values["ashlar_memory_bytes{" + label +
                   R"(,memory="host",kind="arena"})"],
            2048);
  EXPECT_EQ(values["ashlar_runs_total{" + label + "}"], 3);
  EXPECT_EQ(values["ashlar_run_seconds_count{" + label + "}"], 3);
  EXPECT_EQ(values["ashlar_run_seconds_bucket{" + label + R"(,le="+Inf"})"], 3);
  double before = 0;
  for (uint64_t bound = 1024; bound < uint64_t(1024) << 22; bound *= 2) {
    char le[32];
    std::snprintf(le, sizeof(le), "%llu.%09llu",
                  (unsigned long long)(bound / 1000000000),
                  (unsigned long long)(bound % 1000000000));
    auto found = values.find("ashlar_run_seconds_bucket{" + label + ",le=\"" +
                             le + "\"}");
    ASSERT_NE(found, values.end()) << le;
    EXPECT_GE(found->second, before);
    before = found->second;
  }
  // A tenant's own sessions only; memory of all below.
  EXPECT_EQ(values[R"(ashlar_runs_total{budget="runtime/greedy"})"], 0);
  EXPECT_GE(
      values
          [R"(ashlar_memory_bytes{budget="runtime",memory="host",kind="arena"})"],
      2048);
  // What is too long is cut, and ends.
  char small[10];
  ASSERT_OK(ashlar_stats_prometheus(runtime, small, sizeof(small), &again));
  EXPECT_EQ(again, length);
  EXPECT_EQ(text.compare(0, 9, small), 0);
  ashlar_session_release(one);
  ashlar_budget_release(odd);
}

TEST_F(Serving, RunsEndAtTheirTimeOrWhenTheyAreCancelled) {
  open(0);
  load(longModule());
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  options.threads = 2;
  ashlar_session_t *one = nullptr;
  ASSERT_OK(ashlar_session_create(module, tenants[0], &options, &one));
  // One worker takes a kernel in pieces as well, where there is a deadline.
  ashlar_session_t *alone = session(tenants[1]);
  EXPECT_CODE(ASHLAR_CANCELLED, run(alone, 20 * millisecond));
  ashlar_session_release(alone);
  auto start = Clock::now();
  ashlar_status_t status = run(one, 20 * millisecond);
  EXPECT_EQ(status.code, ASHLAR_CANCELLED);
  EXPECT_STREQ(status.message, "the run's time was over");
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(20));
  std::thread canceller([&] {
    // Too early is nothing, so again and again.
    while (stats(tenants[0]).cancelled < 2) {
      ASSERT_OK(ashlar_session_cancel(one));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  status = run(one);
  EXPECT_EQ(status.code, ASHLAR_CANCELLED);
  EXPECT_STREQ(status.message, "the run was cancelled");
  canceller.join();
  // In the background, too.
  for (bool isLate : {true, false}) {
    ashlar_event_t *event = nullptr;
    int32_t done = 0;
    ASSERT_OK(ashlar_session_run_async_within(one, entry, nullptr, 0, nullptr,
                                              0, isLate ? 10 * millisecond : 0,
                                              &event));
    if (!isLate)
      ASSERT_OK(ashlar_session_cancel(one));
    EXPECT_CODE(ASHLAR_CANCELLED,
                ashlar_event_wait(event, ASHLAR_FOREVER, &done));
    ashlar_event_release(event);
  }
  EXPECT_EQ(stats(tenants[0]).cancelled, 4u);
  EXPECT_EQ(stats(tenants[0]).runs, 0u);
  ashlar_session_release(one);
  // Time enough changes nothing.
  ashlar_module_release(module);
  load(spinningModule(10, 2));
  one = session(tenants[0]);
  EXPECT_CODE(ASHLAR_OK, run(one, 60000 * millisecond));
  EXPECT_CODE(ASHLAR_OK, run(one, UINT64_MAX));
  ashlar_session_release(one);
}

TEST_F(Serving, ALateRunLeavesTheQueue) {
  open(1);
  load(longModule());
  ashlar_session_t *first = session(tenants[0]);
  ashlar_session_t *second = session(tenants[1]);
  ashlar_event_t *event = nullptr;
  ASSERT_OK(
      ashlar_session_run_async(first, entry, nullptr, 0, nullptr, 0, &event));
  // Let the first one in.
  while (stats(tenants[0]).running.count == 0) {
    ashlar_status_t status = run(second, 5 * millisecond);
    if (status.code == ASHLAR_CANCELLED)
      break;
  }
  auto start = Clock::now();
  EXPECT_CODE(ASHLAR_CANCELLED, run(second, 5 * millisecond));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  ashlar_event_cancel(event);
  int32_t done = 0;
  (void)ashlar_event_wait(event, ASHLAR_FOREVER, &done);
  ashlar_event_release(event);
  ashlar_session_release(first);
  ashlar_session_release(second);
}

/// Works as many sessions of both tenants as are asked for until the modest one
/// has had `runs`; gives the greedy one's.
class Neighbours : public Serving {
protected:
  uint64_t compete(int greedySessions, uint64_t runs) {
    std::atomic<bool> quit{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < greedySessions; ++i)
      threads.emplace_back([&] {
        ashlar_session_t *own = session(tenants[0]);
        while (!quit)
          EXPECT_CODE(ASHLAR_OK, run(own));
        ashlar_session_release(own);
      });
    ashlar_session_t *own = session(tenants[1]);
    // Until the greedy one is at it.
    while (stats(tenants[0]).runs < uint64_t(greedySessions))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    uint64_t before = stats(tenants[0]).runs;
    // Two at a time, so that one always waits.
    std::thread helper([&] {
      ashlar_session_t *mine = session(tenants[1]);
      while (!quit)
        EXPECT_CODE(ASHLAR_OK, run(mine));
      ashlar_session_release(mine);
    });
    uint64_t had = stats(tenants[1]).runs;
    while (stats(tenants[1]).runs < had + runs)
      EXPECT_CODE(ASHLAR_OK, run(own));
    uint64_t greedy = stats(tenants[0]).runs - before;
    quit = true;
    helper.join();
    for (std::thread &thread : threads)
      thread.join();
    ashlar_session_release(own);
    return greedy;
  }
  /// Of several tries one is fair. A thread that does not run misses its turn,
  /// so that on a machine with more to do than processors none need be.
  void expectFair(int greedySessions, uint64_t runs, uint64_t least,
                  uint64_t most) {
    uint64_t greedy = 0;
    for (int i = 0; i < 10; ++i) {
      greedy = compete(greedySessions, runs);
      if (greedy >= least && greedy <= most)
        return;
    }
    double load = 0;
    getloadavg(&load, 1);
    if (load > 2 * std::thread::hardware_concurrency())
      GTEST_SKIP() << "the machine is busy (" << load
                   << "): the greedy one had " << greedy << " runs, expected "
                   << least << " to " << most;
    ADD_FAILURE() << "the greedy one had " << greedy << " runs, expected "
                  << least << " to " << most;
  }
};

// About 100 us each.
ModuleBuilder shortModule() { return spinningModule(100000, 1); }

TEST_F(Neighbours, AGreedyOneGetsNoMoreThanItsShare) {
  open(1);
  load(shortModule());
  // Six sessions against two: without turns it would have three times as many.
  expectFair(6, 400, 0, 400 * 5 / 4 + 10);
}

TEST_F(Neighbours, SharesCount) {
  open(1);
  ASSERT_OK(ashlar_budget_set_share(tenants[1], 3));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_budget_set_share(tenants[1], 0));
  load(shortModule());
  expectFair(6, 600, 200 / 2, 200 * 3 / 2 + 10);
}

} // namespace

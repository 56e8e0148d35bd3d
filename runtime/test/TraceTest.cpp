// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a trace says, and that others can read it.

#include "Loaded.h"
#include "TemporaryFolder.h"
#include "TraceEvents.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>

using namespace ashlar::test;

namespace {

constexpr const char *context =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class Tracing : public testing::Test {
protected:
  void SetUp() override {
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    options.threads = 1;
    options.worker_limit = 1;
    ASSERT_OK(ashlar_runtime_create(&options, &runtime));
    ASSERT_OK(
        ashlar_budget_create(runtime, "ten\"ant", ASHLAR_UNLIMITED, &tenant));
    bytes = std::make_unique<ModuleBytes>(sampleModule().build());
    path = temporaryPath("trace.json");
  }
  void TearDown() override {
    ashlar_module_release(module);
    ashlar_budget_release(tenant);
    ashlar_runtime_release(runtime);
    std::remove(path.c_str());
  }
  void start() { ASSERT_OK(ashlar_trace_start(runtime, path.c_str())); }
  void load() {
    ashlar_load_options_t options = trusting();
    ASSERT_OK(ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                        &options, &module));
    ASSERT_OK(ashlar_module_entry_at(module, 0, &entry));
  }
  ashlar_session_t *session() {
    ashlar_session_t *made = nullptr;
    EXPECT_CODE(ASHLAR_OK,
                ashlar_session_create(module, tenant, nullptr, &made));
    return made;
  }
  void run(ashlar_session_t *on, size_t misalignment = 0) {
    SampleArguments a(sampleCount, misalignment);
    EXPECT_CODE(ASHLAR_OK,
                ashlar_session_run_entry(on, entry, a.inputs, 2, a.outputs, 1));
    a.expectResult();
  }
  /// The file, checked.
  void stop() {
    ASSERT_OK(ashlar_trace_stop(runtime));
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    trace = JsonReader(text).read();
    ASSERT_EQ(trace.kind, Json::object) << text;
    ASSERT_EQ(trace["traceEvents"].kind, Json::array);
    EXPECT_EQ(trace["displayTimeUnit"].text, "ns");
    std::map<std::pair<double, double>, std::vector<const Json *>> lines;
    for (const Json &event : trace["traceEvents"].items) {
      ASSERT_NO_FATAL_FAILURE(expectEvent(event));
      if (event["ph"].text == "X")
        lines[{event["pid"].value, event["tid"].value}].push_back(&event);
    }
    for (auto &[line, slices] : lines)
      expectNested(slices);
  }
  std::vector<const Json *> eventsOf(const std::string &name) const {
    std::vector<const Json *> found;
    for (const Json &event : trace["traceEvents"].items)
      if (event["name"].text == name)
        found.push_back(&event);
    return found;
  }
  /// Of a counter.
  std::vector<double> valuesOf(const std::string &name) const {
    std::vector<double> values;
    for (const Json *event : eventsOf(name))
      values.push_back((*event)["args"]["value"].value);
    return values;
  }

  ashlar_runtime_t *runtime = nullptr;
  ashlar_budget_t *tenant = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_entry_t *entry = nullptr;
  std::unique_ptr<ModuleBytes> bytes;
  std::string path;
  Json trace;
};

TEST_F(Tracing, SessionsOfTenantsWaitAndRun) {
  load();
  start();
  constexpr int threadCount = 3, rounds = 40;
  std::vector<std::thread> threads;
  for (int t = 0; t < threadCount; ++t)
    threads.emplace_back([&, t] {
      ashlar_session_t *own = session();
      for (int i = 0; i < rounds; ++i)
        run(own, t == 1 ? 4 : 0);
      // In the background, where a run may be asked for before another begins.
      SampleArguments a;
      for (int i = 0; i < 4; ++i) {
        ashlar_event_t *event = nullptr;
        ASSERT_OK(ashlar_session_run_async(own, entry, a.inputs, 2, a.outputs,
                                           1, &event));
        ashlar_event_release(event);
      }
      ashlar_session_release(own);
    });
  for (std::thread &thread : threads)
    thread.join();
  stop();
  auto runs = eventsOf("run main");
  ASSERT_EQ(runs.size(), size_t(threadCount * (rounds + 4)));
  std::set<double> lines;
  for (const Json *each : runs)
    lines.insert((*each)["tid"].value);
  EXPECT_EQ(lines.size(), size_t(threadCount));
  EXPECT_FALSE(eventsOf("wait").empty());
  EXPECT_FALSE(eventsOf("runs that wait").empty());
  EXPECT_EQ(valuesOf("runs that wait").back(), 0);
  std::set<std::string> groups;
  for (const Json *each : eventsOf("process_name"))
    groups.insert((*each)["args"]["name"].text);
  EXPECT_TRUE(groups.count("runtime/ten\\\"ant"));
  EXPECT_EQ(eventsOf("sample: copy in of 1024 bytes").size(),
            size_t(2 * rounds));
  EXPECT_EQ(eventsOf("sample: copy out of 1024 bytes").size(), size_t(rounds));
}

TEST_F(Tracing, MemoryIsCounted) {
  load();
  ashlar_session_t *before = session();
  start();
  ashlar_session_t *own = session();
  ashlar_session_statistics_t held = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(own, &held));
  double each = double(held.arena_bytes + held.scratch_bytes);
  ashlar_session_release(own);
  // Refusals are nothing that anybody had.
  ASSERT_OK(ashlar_budget_set_limit(tenant, uint64_t(each)));
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET,
              ashlar_session_create(module, tenant, nullptr, &own));
  ashlar_session_release(before);
  // One that was not there when it began.
  ashlar_budget_t *below = nullptr;
  ASSERT_OK(ashlar_budget_create_below(tenant, "late", 5000, &below));
  ASSERT_OK(ashlar_budget_reserve(below, nullptr, 100));
  ashlar_budget_release(below);
  stop();
  auto had = valuesOf("runtime/ten\\\"ant, host, bytes");
  ASSERT_GE(had.size(), 6u);
  EXPECT_EQ(had[0], each);
  EXPECT_EQ(had[1], 2 * each);
  EXPECT_EQ(*std::max_element(had.begin(), had.end()), 2 * each);
  EXPECT_EQ(std::vector<double>(had.end() - 3, had.end()),
            (std::vector<double>{0, 100, 0}));
  auto all = valuesOf("runtime, host, bytes");
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), all.back() + each);
  // The next one begins with what there is.
  start();
  stop();
  EXPECT_EQ(valuesOf("runtime/ten\\\"ant, host, bytes"),
            std::vector<double>{0});
}

TEST_F(Tracing, ASpansContextGoesThroughARun) {
  load();
  start();
  ashlar_session_t *own = session();
  run(own);
  ASSERT_OK(ashlar_session_set_trace_context(own, context));
  run(own);
  SampleArguments a;
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(
      ashlar_bindings_create(own, entry, a.inputs, 2, a.outputs, 1, &bindings));
  ashlar_event_t *event = nullptr;
  ASSERT_OK(ashlar_bindings_run_async(bindings, &event));
  // Waits for that run, which keeps its own.
  ASSERT_OK(ashlar_session_set_trace_context(own, nullptr));
  ashlar_event_release(event);
  ASSERT_OK(ashlar_bindings_run(bindings));
  ashlar_bindings_release(bindings);
  ashlar_session_release(own);
  stop();
  std::vector<std::string> found;
  for (const Json *each : eventsOf("run main"))
    found.push_back((*each)["args"]["traceparent"].text);
  EXPECT_EQ(found, (std::vector<std::string>{"", context, context, ""}));
}

TEST_F(Tracing, OnlyATraceparentIsOne) {
  load();
  ashlar_session_t *own = session();
  auto tryIt = [&](const std::string &text) {
    return ashlar_session_set_trace_context(own, text.c_str());
  };
  const std::string good = context;
  EXPECT_CODE(ASHLAR_OK, tryIt(good));
  EXPECT_CODE(ASHLAR_OK, tryIt("01" + good.substr(2)));
  auto with = [&](size_t at, const std::string &text) {
    std::string changed = good;
    return changed.replace(at, text.size(), text);
  };
  for (const std::string &bad :
       {std::string(), good.substr(1), good + "-", good.substr(0, 54),
        with(0, "ff"), with(3, "X"), with(3, "A"), with(2, "_"), with(35, "_"),
        with(52, "_"), with(3, std::string(32, '0')),
        with(36, std::string(16, '0')), with(54, "\n")})
    expectSays(tryIt(bad), ASHLAR_INVALID_ARGUMENT, "traceparent");
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_set_trace_context(nullptr, context));
  ashlar_session_release(own);
}

} // namespace

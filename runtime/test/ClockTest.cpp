// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A clock of the embedder's, which these tests move by hand: it alone says
// when runs are late, waits are over and how long things took.

#include "Json.h"
#include "Loaded.h"
#include "TemporaryFolder.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace ashlar::test;

namespace {

constexpr uint64_t hour = uint64_t(3600) * 1000000000;

/// Goes forward by `step` at every look.
struct HandClock {
  std::atomic<uint64_t> time{hour};
  std::atomic<uint64_t> step{0};
  std::atomic<uint64_t> looks{0};
  static uint64_t now(void *context) {
    auto *self = static_cast<HandClock *>(context);
    ++self->looks;
    return self->time += self->step;
  }
};

class Timed : public RuntimeTest {
protected:
  void SetUp() override {
    ashlar_clock_t given = {&clock, HandClock::now};
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    options.threads = 1;
    options.clock = &given;
    ASSERT_OK(ashlar_runtime_create(&options, &runtime));
  }
  HandClock clock; // before what RuntimeTest releases
};

// About a second of one worker, in groups of some microseconds.
ModuleBuilder longModule() { return spinningModule(2000, 200000); }

// An hour of the clock's passes while some groups run.
TEST_F(Timed, DeadlinesAreTheClocks) {
  load(longModule());
  start();
  clock.step = hour;
  EXPECT_CODE(ASHLAR_CANCELLED,
              ashlar_session_run_within(session, entry, nullptr, 0, nullptr, 0,
                                        hour / 2));
  // It stands still: nothing is ever late, however short the time.
  clock.step = 0;
  ashlar_module_release(module);
  ashlar_session_release(session);
  session = nullptr;
  load(spinningModule(2000, 1000));
  start();
  EXPECT_CODE(ASHLAR_OK, ashlar_session_run_within(session, entry, nullptr, 0,
                                                   nullptr, 0, 1));
}

// A wait for an hour is over when the clock says so; one for a nanosecond is
// not while it stands still.
TEST_F(Timed, WaitsAreTheClocks) {
  load(longModule());
  start();
  ashlar_event_t *event = nullptr;
  ASSERT_OK(
      ashlar_session_run_async(session, entry, nullptr, 0, nullptr, 0, &event));
  int32_t done = 1;
  clock.step = hour;
  auto begin = std::chrono::steady_clock::now();
  ASSERT_OK(ashlar_event_wait(event, hour, &done));
  EXPECT_EQ(done, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
  clock.step = 0;
  std::atomic<bool> returned{false};
  std::thread waiting([&] {
    int32_t came = 0;
    EXPECT_CODE(ASHLAR_OK, ashlar_event_wait(event, 1, &came));
    returned = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_OK(ashlar_event_wait(event, 0, &done));
  if (!done)
    EXPECT_FALSE(returned);
  clock.time += hour;
  waiting.join();
  ASSERT_OK(ashlar_event_cancel(event));
  EXPECT_CODE(ASHLAR_CANCELLED,
              ashlar_event_wait(event, ASHLAR_FOREVER, &done));
  ashlar_event_release(event);
}

// Statistics, the time a load took, and a trace.
TEST_F(Timed, SightIsTheClocks) {
  clock.step = 1000;
  load(sampleModule());
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_EQ(info.load_ns, 1000u);
  start();
  TemporaryFolder folder;
  clock.step = 0;
  ASSERT_OK(ashlar_trace_start(runtime, (folder.path + "/trace.json").c_str()));
  clock.time += hour;
  SampleArguments arguments;
  ASSERT_OK(ashlar_session_run_entry(session, entry, arguments.inputs, 2,
                                     arguments.outputs, 1));
  ASSERT_OK(ashlar_trace_stop(runtime));
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.last_run_ns, 0u);
  Json trace = JsonReader(folder.read("trace.json")).read();
  ASSERT_EQ(trace.kind, Json::object);
  size_t slices = 0;
  for (const Json &event : trace["traceEvents"].items)
    if (event["ph"].text == "X") {
      ++slices;
      EXPECT_EQ(event["ts"].value, 3600e6) << event["name"].text;
      EXPECT_EQ(event["dur"].value, 0) << event["name"].text;
    }
  EXPECT_GE(slices, 4u); // a run of three kernels
  EXPECT_GT(clock.looks, 8u);
}

TEST_F(Timed, NeedsAFunction) {
  ashlar_clock_t nothing = {&clock, nullptr};
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.clock = &nothing;
  ashlar_runtime_t *made = nullptr;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_runtime_create(&options, &made));
  EXPECT_EQ(made, nullptr);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sessions of one module run side by side; handles come and go meanwhile.

#include "Loaded.h"
#include "TemporaryFolder.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

using namespace ashlar::test;

namespace {

class Concurrency : public RuntimeTest {};

TEST_F(Concurrency, SessionsRunInParallel) {
  load(sampleModule());
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      ashlar_session_t *own = nullptr;
      ashlar_session_options_t options = withThreads(1 + i % 3);
      ASSERT_OK(ashlar_session_create(module, nullptr, &options, &own));
      SampleArguments a;
      for (int round = 0; round < 100; ++round) {
        a.x[1] = float(round * int(i));
        ASSERT_OK(ashlar_session_run(own, "main", a.inputs, 2, a.outputs, 1));
        a.expectResult();
      }
      ashlar_session_release(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Concurrency, LoadsAndBudgets) {
  ASSERT_OK(ashlar_budget_create(runtime, "shared", ASHLAR_UNLIMITED, &budget));
  ModuleBytes file = sampleModule().build();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        ashlar_load_options_t options = trusting();
        options.budget = budget;
        ashlar_module_t *own = nullptr;
        ASSERT_OK(ashlar_module_load_memory(runtime, file.data(), file.size(),
                                            &options, &own));
        ashlar_session_t *runner = nullptr;
        ASSERT_OK(ashlar_session_create(own, budget, nullptr, &runner));
        ashlar_module_release(own);
        ashlar_session_release(runner);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  ashlar_budget_statistics_t statistics = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query(budget, &statistics));
  EXPECT_EQ(statistics.current, 0u);
}

TEST_F(Concurrency, EventsAreWatchedFromOtherThreads) {
  load(spinningModule(100000, 64));
  start(2);
  for (int round = 0; round < 5; ++round) {
    ashlar_event_t *event = nullptr;
    ASSERT_OK(ashlar_session_run_async(session, entry, nullptr, 0, nullptr, 0,
                                       &event));
    std::vector<std::thread> watchers;
    for (int i = 0; i < 3; ++i)
      watchers.emplace_back([&] {
        int32_t done = 0;
        EXPECT_CODE(ASHLAR_OK, ashlar_event_wait(event, ASHLAR_FOREVER, &done));
        EXPECT_EQ(done, 1);
      });
    for (std::thread &watcher : watchers)
      watcher.join();
    ashlar_event_release(event);
  }
}

TEST_F(Concurrency, TraceWhileRunning) {
  std::string path = temporaryPath("trace.json");
  load(sampleModule());
  start(2);
  std::thread runner([&] {
    SampleArguments a;
    for (int round = 0; round < 200; ++round)
      ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  });
  for (int round = 0; round < 3; ++round) {
    ASSERT_OK(ashlar_trace_start(runtime, path.c_str()));
    EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
                ashlar_trace_start(runtime, path.c_str()));
    std::this_thread::yield();
    ASSERT_OK(ashlar_trace_stop(runtime));
  }
  runner.join();
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_trace_stop(runtime));
  ASSERT_OK(ashlar_trace_start(runtime, path.c_str()));
  SampleArguments a;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  ASSERT_OK(ashlar_trace_stop(runtime));
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("\"sample: double_f32.1\""), text.npos) << text;
  EXPECT_EQ(text.substr(text.size() - 4), "\n]}\n");
  std::remove(path.c_str());
  ASSERT_OK(ashlar_trace_start(runtime, "/nonexistent/trace.json"));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_trace_stop(runtime));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime allocates for itself: counted at the runtime it is for, all
// of it, and gone with what it was allocated for.

#include "Loaded.h"
#include "TemporaryFolder.h"

#include <memory>
#include <thread>

using namespace ashlar::test;

namespace {

ashlar_own_memory_t ownMemory(const ashlar_runtime_t *of) {
  ashlar_own_memory_t memory = ASHLAR_OWN_MEMORY_INIT;
  EXPECT_CODE(ASHLAR_OK, ashlar_stats_own_memory(of, &memory));
  return memory;
}

uint64_t current(const ashlar_runtime_t *of) { return ownMemory(of).current; }

class OwnMemory : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(current(nullptr), 0u) << "other tests left something";
    ASSERT_OK(ashlar_runtime_create(nullptr, &runtime));
    ashlar_device_t *cpu = nullptr;
    ASSERT_OK(ashlar_device_open(runtime, "cpu:0", &cpu));
    // Tables of the runtime's budget stay as long as they once were.
    load(sampleModule());
    ashlar_budget_t *budget = nullptr;
    ASSERT_OK(ashlar_budget_create(runtime, "first", 1 << 20, &budget));
    for (ashlar_budget_t *of : {budget, (ashlar_budget_t *)nullptr}) {
      ASSERT_OK(ashlar_session_create(module, of, nullptr, &session));
      ashlar_session_release(session);
    }
    session = nullptr;
    unload();
    ashlar_budget_release(budget);
  }
  void TearDown() override {
    ashlar_runtime_release(runtime);
    EXPECT_EQ(current(nullptr), 0u);
  }
  void load(ModuleBuilder builder, const char *name = "sample") {
    bytes = std::make_unique<ModuleBytes>(builder.build());
    ashlar_load_options_t options = trusting();
    options.name = name;
    ASSERT_OK(ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                        &options, &module));
    ASSERT_OK(ashlar_module_entry_at(module, 0, &entry));
  }
  void unload() {
    ashlar_session_release(session);
    ashlar_module_release(module);
    session = nullptr;
    module = nullptr;
  }

  std::unique_ptr<ModuleBytes> bytes;
  ashlar_runtime_t *runtime = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_entry_t *entry = nullptr;
  ashlar_session_t *session = nullptr;
};

TEST_F(OwnMemory, EachHandleTakesSomeAndGivesItBack) {
  const uint64_t before = current(runtime);
  EXPECT_GT(before, 0u);
  ashlar_budget_t *budget = nullptr;
  ASSERT_OK(ashlar_budget_create(runtime, "tenant", 1 << 20, &budget));
  uint64_t withBudget = current(runtime);
  EXPECT_GT(withBudget, before);
  load(sampleModule());
  uint64_t withModule = current(runtime);
  EXPECT_GT(withModule, withBudget);
  ASSERT_OK(ashlar_session_create(module, budget, nullptr, &session));
  uint64_t withSession = current(runtime);
  EXPECT_GT(withSession, withModule);
  SampleArguments a;
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(ashlar_bindings_create(session, entry, a.inputs, 2, a.outputs, 1,
                                   &bindings));
  uint64_t withBindings = current(runtime);
  EXPECT_GT(withBindings, withSession);
  ASSERT_OK(ashlar_bindings_run(bindings)); // may make the queue larger
  uint64_t withRun = current(runtime);
  ASSERT_OK(ashlar_bindings_run(bindings));
  EXPECT_EQ(current(runtime), withRun) << "a run keeps nothing";
  uint64_t withThread = 0; // the session's own, from the first such run on
  for (int round = 0; round < 2; ++round) {
    ashlar_event_t *event = nullptr;
    ASSERT_OK(ashlar_bindings_run_async(bindings, &event));
    int32_t done = 0;
    ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
    EXPECT_GT(current(runtime), withRun);
    ashlar_event_release(event);
    // Waits until the session's thread has let go of it, too.
    ASSERT_OK(ashlar_session_set_trace_context(session, nullptr));
    if (round == 0)
      withThread = current(runtime);
    EXPECT_EQ(current(runtime), withThread);
  }
  EXPECT_LT(withThread, withRun + 100);
  ashlar_bindings_release(bindings);
  EXPECT_EQ(current(runtime), withThread - (withBindings - withSession));
  unload();
  ashlar_budget_release(budget);
  EXPECT_EQ(current(runtime), before);
  EXPECT_GE(ownMemory(runtime).peak, withBindings);
}

TEST_F(OwnMemory, NoBudgetHasIt) {
  load(sampleModule(), "a name that is longer than what strings keep inside");
  ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
  ashlar_budget_t *root = nullptr;
  ASSERT_OK(ashlar_runtime_budget(runtime, &root));
  ashlar_budget_statistics_t charged = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query(root, &charged));
  uint64_t sum = 0;
  for (uint64_t each : charged.current_of)
    sum += each;
  EXPECT_EQ(charged.current, sum);
  ashlar_budget_release(root);
  unload();
}

TEST_F(OwnMemory, ALongerNameTakesMore) {
  load(sampleModule(), "short");
  uint64_t shorter = current(runtime);
  unload();
  std::string longer(1000, 'n');
  load(sampleModule(), longer.c_str());
  EXPECT_GE(current(runtime), shorter + 900);
  unload();
}

TEST_F(OwnMemory, RuntimesAreToldApart) {
  ashlar_runtime_t *other = nullptr;
  ASSERT_OK(ashlar_runtime_create(nullptr, &other));
  uint64_t others = current(other), own = current(runtime);
  EXPECT_EQ(current(nullptr), own + others);
  load(sampleModule());
  // On another thread, and on one of the session's own.
  std::thread([&] {
    ashlar_session_options_t options = withThreads(3);
    ASSERT_OK(ashlar_session_create(module, nullptr, &options, &session));
    SampleArguments a;
    ashlar_event_t *event = nullptr;
    ASSERT_OK(ashlar_session_run_async(session, entry, a.inputs, 2, a.outputs,
                                       1, &event));
    int32_t done = 0;
    ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
    ashlar_event_release(event);
  }).join();
  EXPECT_GT(current(runtime), own);
  EXPECT_EQ(current(other), others);
  EXPECT_EQ(current(nullptr), current(runtime) + others);
  unload();
  EXPECT_EQ(current(runtime), own);
  ashlar_runtime_release(other);
  EXPECT_EQ(current(nullptr), own);
}

TEST_F(OwnMemory, FailuresLeaveNothing) {
  load(sampleModule());
  uint64_t before = current(runtime);
  ashlar_budget_t *small = nullptr;
  ASSERT_OK(ashlar_budget_create(runtime, "small", 10, &small));
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET,
              ashlar_session_create(module, small, nullptr, &session));
  ashlar_budget_release(small);
  ashlar_device_t *none = nullptr;
  EXPECT_CODE(ASHLAR_NOT_FOUND,
              ashlar_device_open(runtime, "toaster:0", &none));
  ashlar_module_t *broken = nullptr;
  EXPECT_CODE(ASHLAR_CORRUPT, ashlar_module_load_memory(runtime, bytes->data(),
                                                        100, nullptr, &broken));
  EXPECT_EQ(current(runtime), before);
  unload();
}

TEST_F(OwnMemory, OutlivesTheRuntimesHandle) {
  load(sampleModule());
  ashlar_runtime_release(runtime);
  runtime = nullptr;
  EXPECT_GT(current(nullptr), 0u);
  unload();
  EXPECT_EQ(current(nullptr), 0u);
}

TEST_F(OwnMemory, ATraceIsCountedWhileItIsOn) {
  TemporaryFolder folder;
  load(sampleModule());
  ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
  SampleArguments a;
  ASSERT_OK(
      ashlar_session_run_entry(session, entry, a.inputs, 2, a.outputs, 1));
  uint64_t before = current(runtime);
  ASSERT_OK(ashlar_trace_start(runtime, (folder.path + "/t.json").c_str()));
  EXPECT_GT(current(runtime), before + 1000000);
  ASSERT_OK(
      ashlar_session_run_entry(session, entry, a.inputs, 2, a.outputs, 1));
  ASSERT_OK(ashlar_trace_stop(runtime));
  // Sessions keep no records, but who traced them last.
  EXPECT_LE(current(runtime), before + 1000);
  unload();
}

TEST_F(OwnMemory, PrometheusHasIt) {
  size_t length = 0;
  ASSERT_OK(ashlar_stats_prometheus(runtime, nullptr, 0, &length));
  std::string text(length, '?');
  ASSERT_OK(ashlar_stats_prometheus(runtime, text.data(), length + 1, &length));
  const std::string line = "\nashlar_own_memory_bytes ";
  size_t at = text.find(line);
  ASSERT_NE(at, text.npos) << text;
  // The text itself is among them while it is made.
  EXPECT_GE(std::stoull(text.substr(at + line.size())), current(runtime));
  EXPECT_NE(text.find("# TYPE ashlar_own_memory_peak_bytes gauge\n"),
            text.npos);
}

TEST_F(OwnMemory, ArgumentsAreChecked) {
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_stats_own_memory(runtime, nullptr));
  ashlar_own_memory_t memory = {};
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_stats_own_memory(runtime, &memory));
}

} // namespace

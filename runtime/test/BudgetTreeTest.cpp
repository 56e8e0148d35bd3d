// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits hold at every level and for every memory; refusals say whose limit it
// was and who would have to go; what is set aside stays there; what is given
// back is there for others.

#include "Loaded.h"
#include "Sanitized.h"
#include "TemporaryFolder.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace ashlar::test;

namespace {

class BudgetTree : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_OK(ashlar_runtime_budget(runtime, &root));
    ASSERT_OK(
        ashlar_budget_create(runtime, "tenant", ASHLAR_UNLIMITED, &tenant));
    ASSERT_OK(
        ashlar_budget_create_below(tenant, "model", ASHLAR_UNLIMITED, &budget));
  }
  void TearDown() override {
    RuntimeTest::TearDown();
    // Handles of the runtime's budget outlive it.
    EXPECT_EQ(query(root).current, 0u);
    ashlar_budget_release(tenant);
    ashlar_budget_release(root);
  }
  static ashlar_budget_statistics_t query(const ashlar_budget_t *of) {
    ashlar_budget_statistics_t statistics = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_budget_query(of, &statistics));
    return statistics;
  }
  void unload() {
    ashlar_session_release(session);
    ashlar_module_release(module);
    session = nullptr;
    module = nullptr;
  }
  /// Tries to make the session and returns what is said.
  std::string refused(const char *place) {
    ashlar_session_options_t options = withThreads(1);
    ashlar_status_t status =
        ashlar_session_create(module, budget, &options, &session);
    EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
    EXPECT_STREQ(status.place, place);
    EXPECT_EQ(session, nullptr);
    return status.message;
  }
  ashlar_budget_t *root = nullptr, *tenant = nullptr;
};

// What a session of the sample takes when it is created: arena and scratch.
constexpr uint64_t sessionBytes = 2048 + 64;

TEST_F(BudgetTree, EveryAncestorCounts) {
  load(sampleModule());
  start(1);
  EXPECT_GT(query(budget).current, sessionBytes);
  for (ashlar_budget_t *each : {tenant, root}) {
    EXPECT_EQ(query(each).current, query(budget).current);
    EXPECT_EQ(query(each).peak, query(budget).peak);
    for (int kind = 0; kind < ASHLAR_MEMORY_KINDS; ++kind)
      EXPECT_EQ(query(each).current_of[kind], query(budget).current_of[kind]);
  }
  unload();
  EXPECT_EQ(query(root).current, 0u);
}

TEST_F(BudgetTree, TheNodeThatLacksBytesIsNamed) {
  load(sampleModule());
  uint64_t loaded = query(root).current;
  struct Level {
    ashlar_budget_t *budget;
    const char *name;
  } levels[] = {{budget, "model"}, {tenant, "tenant"}, {root, "runtime"}};
  for (const Level &level : levels) {
    ASSERT_OK(ashlar_budget_set_limit(level.budget, loaded + sessionBytes - 1));
    std::string message = refused(level.name);
    EXPECT_NE(message.find(std::string("budget '") + level.name +
                           "' lacks 1 bytes: sample asks for 2048 bytes of "
                           "arena and 64 bytes of scratch, "),
              message.npos)
        << message;
    EXPECT_EQ(query(level.budget).refusals, 1u);
    // Nothing was taken anywhere.
    for (const Level &other : levels)
      EXPECT_EQ(query(other.budget).current, loaded);
    ASSERT_OK(ashlar_budget_set_limit(level.budget, loaded + sessionBytes));
  }
  start(1);
  EXPECT_EQ(query(root).current, loaded + sessionBytes);
}

TEST_F(BudgetTree, HoldersBelowHaveAPathAndSomebodyIsToGo) {
  load(sampleModule());
  ashlar_budget_t *other = nullptr;
  ASSERT_OK(
      ashlar_budget_create_below(tenant, "other", ASHLAR_UNLIMITED, &other));
  ashlar_session_options_t options = withThreads(1);
  options.name = "big";
  ashlar_session_t *big = nullptr;
  ASSERT_OK(ashlar_session_create(module, other, &options, &big));
  ASSERT_OK(ashlar_budget_set_limit(tenant, query(tenant).current));
  std::string message = refused("tenant");
  EXPECT_NE(message.find("other/big (2048 arena)"), message.npos) << message;
  EXPECT_NE(message.find("model/sample (1024 weights)"), message.npos)
      << message;
  // The smallest that is enough: the code is larger.
  EXPECT_NE(message.find("; it would fit without other/big"), message.npos)
      << message;
  ASSERT_OK(ashlar_budget_set_limit(other, ASHLAR_UNLIMITED));
  ASSERT_OK(ashlar_budget_set_limit(budget, query(budget).current));
  message = refused("model");
  EXPECT_NE(message.find("; it would fit without sample"), message.npos)
      << message;
  ashlar_session_release(big);
  ashlar_budget_release(other);
}

TEST_F(BudgetTree, ABudgetThatIsTooSmallEvenEmptySaysSo) {
  load(sampleModule());
  ashlar_budget_t *small = nullptr;
  ASSERT_OK(ashlar_budget_create(runtime, "small", 1000, &small));
  ashlar_status_t status =
      ashlar_session_create(module, small, nullptr, &session);
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_NE(std::strstr(status.message, "; even empty it would lack "), nullptr)
      << status.message;
  ashlar_budget_release(small);
}

TEST_F(BudgetTree, LimitsOfOneDevice) {
  ashlar_device_t *systolic = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "systolic:0", &systolic));
  load(systolicModule());
  ashlar_budget_statistics_t there = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query_device(tenant, systolic, &there));
  EXPECT_GT(there.current_of[ASHLAR_MEMORY_WEIGHTS], 0u);
  EXPECT_LT(there.current, query(tenant).current); // code is in the host
  ashlar_budget_statistics_t host = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query_device(tenant, nullptr, &host));
  EXPECT_EQ(there.current + host.current, query(tenant).current);
  unload();
  ASSERT_OK(
      ashlar_budget_set_device_limit(tenant, systolic, there.current - 1));
  ashlar_load_options_t options = trusting();
  options.budget = budget;
  ashlar_status_t status = ashlar_module_load_memory(
      runtime, bytes->data(), bytes->size(), &options, &module);
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_NE(std::strstr(status.message, "'tenant' lacks 1 bytes of systolic:0"),
            nullptr)
      << status.message;
  // The host's memory is not meant.
  load(sampleModule());
}

TEST_F(BudgetTree, WhatIsSetAsideIsNobodyElses) {
  load(sampleModule());
  uint64_t loaded = query(root).current;
  ashlar_budget_t *keeper = nullptr;
  ASSERT_OK(ashlar_budget_create(runtime, "keeper", sessionBytes, &keeper));
  ASSERT_OK(ashlar_budget_set_limit(root, loaded + sessionBytes));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_budget_reserve(keeper, nullptr, sessionBytes + 1));
  ASSERT_OK(ashlar_budget_reserve(keeper, nullptr, sessionBytes));
  EXPECT_EQ(query(keeper).current, 0u);
  EXPECT_EQ(query(keeper).reserved, sessionBytes);
  EXPECT_EQ(query(root).current, loaded + sessionBytes);
  std::string message = refused("runtime");
  EXPECT_NE(message.find("keeper (2112 set aside)"), message.npos) << message;
  // Its own session has it.
  ashlar_session_options_t options = withThreads(1);
  ASSERT_OK(ashlar_session_create(module, keeper, &options, &session));
  EXPECT_EQ(query(root).current, loaded + sessionBytes);
  ASSERT_OK(ashlar_budget_reserve(keeper, nullptr, 100));
  EXPECT_EQ(query(root).current, loaded + sessionBytes);
  ashlar_session_release(session);
  session = nullptr;
  EXPECT_EQ(query(root).current, loaded + 100);
  // A budget above that has less left refuses, and nothing changes.
  ashlar_status_t status =
      ashlar_budget_reserve(budget, nullptr, query(root).limit + 1);
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_STREQ(status.place, "runtime");
  EXPECT_EQ(query(root).current, loaded + 100);
  ashlar_budget_release(keeper);
  EXPECT_EQ(query(root).current, loaded);
}

TEST_F(BudgetTree, LimitsBelowWhatIsInUseAreRefused) {
  load(sampleModule());
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_budget_set_limit(tenant, query(tenant).current - 1));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_budget_set_device_limit(tenant, nullptr,
                                             query(tenant).current - 1));
  ASSERT_OK(ashlar_budget_set_limit(tenant, query(tenant).current));
}

TEST_F(BudgetTree, BudgetsOfAnotherRuntimeDoNotMix) {
  load(sampleModule());
  ashlar_runtime_t *second = nullptr;
  ashlar_budget_t *foreign = nullptr;
  ASSERT_OK(ashlar_runtime_create(nullptr, &second));
  ASSERT_OK(
      ashlar_budget_create(second, "foreign", ASHLAR_UNLIMITED, &foreign));
  // A session may be charged there, as ever; one tree is not asked with
  // another.
  ASSERT_OK(ashlar_session_create(module, foreign, nullptr, &session));
  ashlar_session_release(session);
  session = nullptr;
  EXPECT_EQ(query(foreign).current, 0u);
  ashlar_budget_release(foreign);
  ashlar_runtime_release(second);
}

TEST_F(BudgetTree, AFileIsCheckedByItsIndexAlone) {
  std::string path = temporaryPath("checked.ash");
  writeFile(path, sampleModule().build());
  ashlar_load_options_t options = trusting();
  options.budget = budget;
  ashlar_session_options_t of = withThreads(2);
  ashlar_module_cost_t cost = ASHLAR_MODULE_COST_INIT;
  auto check = [&](uint32_t sessions) {
    return ashlar_module_check_file(runtime, path.c_str(), &options, tenant,
                                    &of, sessions, &cost);
  };
  ASSERT_OK(check(1));
  EXPECT_EQ(cost.weights_bytes, 1024u);
  EXPECT_EQ(cost.session_bytes, 2048u + 2 * 64);
  EXPECT_EQ(cost.session_peak_bytes, cost.session_bytes + 3 * 1024);
  uint64_t module_bytes = cost.weights_bytes + cost.code_bytes;
  ASSERT_OK(
      ashlar_budget_set_limit(tenant, module_bytes + 2 * cost.session_bytes));
  ASSERT_OK(check(2));
  EXPECT_EQ(check(3).code, ASHLAR_OUT_OF_BUDGET);
  of.reserve_all = 1;
  EXPECT_EQ(check(2).code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_EQ(query(tenant).current, 0u);
  EXPECT_EQ(query(tenant).peak, 0u);
  // What it says is what loading does.
  of.reserve_all = 0;
  ASSERT_OK(ashlar_module_load_file(runtime, path.c_str(), &options, &module));
  EXPECT_EQ(query(tenant).current, module_bytes);
  ashlar_session_t *sessions[2] = {};
  for (ashlar_session_t *&each : sessions)
    ASSERT_OK(ashlar_session_create(module, tenant, &of, &each));
  EXPECT_EQ(query(tenant).current, query(tenant).limit);
  EXPECT_EQ(ashlar_session_create(module, tenant, &of, &session).code,
            ASHLAR_OUT_OF_BUDGET);
  for (ashlar_session_t *each : sessions)
    ashlar_session_release(each);
  // The weights are never read: a file without them is refused for its size,
  // not for what they hold.
  unload();
  ASSERT_OK(ashlar_budget_set_limit(tenant, 1000));
  ModuleBytes file = sampleModule().build();
  std::memset(file.data() + file.size() - 64, 0x5a, 64);
  writeFile(path, file);
  options.verify_weights = 1;
  EXPECT_EQ(check(0).code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_CODE(
      ASHLAR_OUT_OF_BUDGET,
      ashlar_module_load_file(runtime, path.c_str(), &options, &module));
  std::remove(path.c_str());
}

TEST_F(BudgetTree, TrimmedMemoryComesBackWithTheNextRun) {
  load(sampleModule());
  uint64_t loaded = query(root).current;
  start(1);
  SampleArguments a(sampleCount, 4), own;
  own.outputs[0] = {};
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(ashlar_bindings_create(session, entry, own.inputs, 2, own.outputs,
                                   1, &bindings));
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  ASSERT_OK(ashlar_bindings_run(bindings));
  own.expectResult();
  uint64_t inUse = query(root).current;
  uint64_t given = 0;
  ASSERT_OK(ashlar_session_trim(session, &given));
  EXPECT_EQ(given, inUse - loaded);
  EXPECT_EQ(query(root).current, loaded);
  ASSERT_OK(ashlar_session_trim(session, &given));
  EXPECT_EQ(given, 0u);
  // Prepared bindings and others find their memory again, where it was.
  void *before = own.outputs[0].data;
  ASSERT_OK(ashlar_bindings_run(bindings));
  EXPECT_EQ(own.outputs[0].data, before);
  own.expectResult();
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.expectResult();
  EXPECT_EQ(query(root).current, inUse);
  // Unless somebody else has it now.
  ASSERT_OK(ashlar_session_trim(session, nullptr));
  ASSERT_OK(ashlar_budget_set_limit(tenant, loaded + 100));
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET, ashlar_bindings_run(bindings));
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET,
              ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  ASSERT_OK(ashlar_budget_set_limit(tenant, inUse));
  ASSERT_OK(ashlar_bindings_run(bindings));
  own.expectResult();
  ashlar_bindings_release(bindings);
}

TEST_F(BudgetTree, SymbolicSizesGrowInStepsAndFallAtTheHighWaterMark) {
  load(growingModule());
  uint64_t loaded = query(root).current;
  ashlar_session_options_t options = withThreads(1);
  options.growth_bytes = 512;
  ASSERT_OK(ashlar_session_create(module, budget, &options, &session));
  auto arenaAt = [&](int64_t count) {
    SampleArguments a(count);
    EXPECT_CODE(ASHLAR_OK,
                ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
    return query(root).current_of[ASHLAR_MEMORY_ARENA];
  };
  // Two values of so many floats.
  EXPECT_EQ(arenaAt(16), 512u);
  EXPECT_EQ(arenaAt(64), 512u);
  EXPECT_EQ(arenaAt(65), 1024u);
  EXPECT_EQ(arenaAt(16), 1024u); // what has been used stays
  EXPECT_EQ(arenaAt(256), 2048u);
  ashlar_session_release(session);
  session = nullptr;
  options.high_water_bytes = 1024 + 64;
  ASSERT_OK(ashlar_session_create(module, budget, &options, &session));
  EXPECT_EQ(arenaAt(64), 512u);
  EXPECT_EQ(arenaAt(256), 0u); // above the mark when the run had ended
  EXPECT_EQ(query(root).current, loaded);
  EXPECT_EQ(arenaAt(64), 512u);
}

TEST_F(BudgetTree, UnloadingGivesTheProcessItsMemoryBack) {
  if (isSanitized)
    GTEST_SKIP() << "sanitizers keep memory of their own";
  constexpr uint64_t large = 64 << 20, slack = 2 << 20;
  ModuleBuilder builder = sampleModule();
  builder.contract().arena_bytes += large;
  load(std::move(builder));
  unload();
  uint64_t before = residentBytes();
  ASSERT_OK(ashlar_module_load_memory(
      runtime, bytes->data(), bytes->size(),
      [] {
        static ashlar_load_options_t options = trusting();
        return &options;
      }(),
      &module));
  start(1); // poisons the whole arena before each run
  SampleArguments a;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  EXPECT_GE(residentBytes(), before + large);
  ASSERT_OK(ashlar_session_trim(session, nullptr));
  EXPECT_LE(residentBytes(), before + slack);
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.expectResult();
  EXPECT_GE(residentBytes(), before + large);
  unload();
  EXPECT_LE(residentBytes(), before + slack);
}

} // namespace

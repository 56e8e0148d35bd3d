// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every byte is charged, refused before it is taken, and paid back.

#include "Loaded.h"

#include <cstring>

using namespace ashlar::test;

namespace {

class Budgets : public RuntimeTest {
protected:
  void limitTo(uint64_t limit) {
    ashlar_budget_release(budget);
    ASSERT_OK(ashlar_budget_create(runtime, "tenant", limit, &budget));
  }
  ashlar_budget_statistics_t query() {
    ashlar_budget_statistics_t statistics = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_budget_query(budget, &statistics));
    return statistics;
  }
};

TEST_F(Budgets, ChargeExactlyTheContract) {
  limitTo(ASHLAR_UNLIMITED);
  load(sampleModule());
  start(1);
  SampleArguments a;
  a.outputs[0] = {};
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
  ASSERT_OK(ashlar_entry_contract(entry, &contract));
  ashlar_budget_statistics_t now = query();
  EXPECT_EQ(now.current, contract.peak_bytes);
  EXPECT_EQ(now.peak, contract.peak_bytes);
  EXPECT_EQ(now.current_of[ASHLAR_MEMORY_WEIGHTS], contract.weights_bytes);
  EXPECT_EQ(now.current_of[ASHLAR_MEMORY_CODE], contract.code_bytes);
  EXPECT_EQ(now.current_of[ASHLAR_MEMORY_ARENA], contract.arena_bytes);
  EXPECT_EQ(now.current_of[ASHLAR_MEMORY_OUTPUTS], contract.outputs_bytes);
  EXPECT_EQ(now.current_of[ASHLAR_MEMORY_SCRATCH],
            contract.scratch_bytes_per_worker);
  EXPECT_EQ(now.current_of[ASHLAR_MEMORY_STAGING], 0u);
  ashlar_session_release(session);
  ashlar_module_release(module);
  session = nullptr;
  module = nullptr;
  EXPECT_EQ(query().current, 0u);
  EXPECT_EQ(query().peak, contract.peak_bytes);
}

TEST_F(Budgets, SessionsShareWeightsAndCode) {
  limitTo(ASHLAR_UNLIMITED);
  load(sampleModule());
  uint64_t loaded = query().current;
  start(2);
  uint64_t one = query().current - loaded;
  ashlar_session_t *second = nullptr;
  ashlar_session_options_t options = withThreads(2);
  ASSERT_OK(ashlar_session_create(module, budget, &options, &second));
  EXPECT_EQ(query().current, loaded + 2 * one);
  ashlar_session_release(second);
  EXPECT_EQ(query().current, loaded + one);
}

TEST_F(Budgets, RefuseALoadThatDoesNotFit) {
  limitTo(1000);
  bytes = std::make_unique<ModuleBytes>(sampleModule().build());
  ashlar_load_options_t options = trusting();
  options.budget = budget;
  ashlar_status_t status = ashlar_module_load_memory(
      runtime, bytes->data(), bytes->size(), &options, &module);
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_NE(std::strstr(status.message, "lacks"), nullptr) << status.message;
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(query().current, 0u);
  EXPECT_EQ(query().peak, 0u);
  EXPECT_EQ(query().refusals, 1u);
}

TEST_F(Budgets, RefuseASessionAndNameTheHolders) {
  limitTo(ASHLAR_UNLIMITED);
  load(sampleModule());
  uint64_t loaded = query().current;
  ashlar_module_release(module);
  module = nullptr;
  limitTo(loaded + 2048 + 63); // one byte less than arena and scratch
  load(sampleModule());
  ashlar_session_options_t options = withThreads(1);
  ashlar_status_t status =
      ashlar_session_create(module, budget, &options, &session);
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_NE(std::strstr(status.message, "lacks 1 bytes"), nullptr)
      << status.message;
  EXPECT_NE(std::strstr(status.message, "sample (1024 weights)"), nullptr)
      << status.message;
  EXPECT_STREQ(status.place, "tenant");
  EXPECT_EQ(query().current, loaded);
  ashlar_holder_t holders[4];
  size_t count = 0;
  ASSERT_OK(ashlar_budget_holders(budget, holders, 4, &count));
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(holders[0].name, "sample");
  EXPECT_EQ(holders[0].kind, uint32_t(ASHLAR_MEMORY_CODE));
  EXPECT_EQ(holders[1].bytes, 1024u);
}

TEST_F(Budgets, RefuseOutputsAndStagingAtTheRun) {
  limitTo(ASHLAR_UNLIMITED);
  load(sampleModule());
  uint64_t loaded = query().current;
  ashlar_module_release(module);
  module = nullptr;
  limitTo(loaded + 2048 + 64 + 1024);
  load(sampleModule());
  start(1);
  SampleArguments aligned, unaligned(sampleCount, 4);
  // Two staged inputs do not fit.
  EXPECT_CODE(ASHLAR_OUT_OF_BUDGET,
              ashlar_session_run(session, "main", unaligned.inputs, 2,
                                 aligned.outputs, 1));
  EXPECT_EQ(aligned.z[0], -999);
  ASSERT_OK(ashlar_session_run(session, "main", aligned.inputs, 2,
                               aligned.outputs, 1));
  aligned.expectResult();
}

TEST_F(Budgets, ReserveAllMakesLaterRunsSafe) {
  limitTo(ASHLAR_UNLIMITED);
  load(sampleModule());
  ashlar_session_options_t options = withThreads(1);
  options.reserve_all = 1;
  ASSERT_OK(ashlar_session_create(module, budget, &options, &session));
  uint64_t reserved = query().current;
  ASSERT_OK(ashlar_module_entry(module, "main", &entry));
  ashlar_contract_t contract = ASHLAR_CONTRACT_INIT;
  ASSERT_OK(ashlar_entry_contract(entry, &contract));
  // This contract says nothing of copies: both inputs', and an output is staged
  // where the session's own is.
  EXPECT_EQ(reserved, contract.peak_bytes + 2 * sampleCount * sizeof(float));
  SampleArguments a(sampleCount, 4);
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.outputs[0] = {};
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  EXPECT_EQ(query().current, reserved);
}

TEST_F(Budgets, AnImpossibleArenaIsRefused) {
  ModuleBuilder builder = sampleModule();
  builder.contract().arena_bytes = uint64_t(1) << 60;
  limitTo(ASHLAR_UNLIMITED);
  load(std::move(builder));
  ashlar_status_t status =
      ashlar_session_create(module, budget, nullptr, &session);
  EXPECT_NE(status.code, ASHLAR_OK);
  EXPECT_EQ(session, nullptr);
}

} // namespace

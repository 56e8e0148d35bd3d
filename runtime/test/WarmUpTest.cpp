// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session that has been warmed up is as if it had run, and nothing else.

#include "Loaded.h"
#include "ashlar/runtime/warm_up.h"

using namespace ashlar::test;

namespace {

class WarmUp : public RuntimeTest {
protected:
  ashlar_status_t warmUp(const ashlar_tensor_t *inputs = nullptr,
                         size_t count = 0, uint64_t timeout = 0) {
    return ashlar_session_warm_up(session, entry, inputs, count, timeout);
  }
  ashlar_session_statistics_t held() {
    ashlar_session_statistics_t out = ASHLAR_SESSION_STATISTICS_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_session_query(session, &out));
    return out;
  }
  uint64_t charged() {
    ashlar_budget_statistics_t out = ASHLAR_BUDGET_STATISTICS_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_budget_query(budget, &out));
    return out.current;
  }
  void begin(ModuleBuilder builder) {
    ASSERT_OK(
        ashlar_budget_create(runtime, "model", ASHLAR_UNLIMITED, &budget));
    load(std::move(builder));
    start();
  }
};

TEST_F(WarmUp, ItHoldsWhatARunHolds) {
  begin(growingModule());
  SampleArguments a(40), all;
  // Of the sizes asked for, memory of the tensors is not read.
  for (ashlar_tensor_t &input : a.inputs)
    input.data = nullptr;
  ASSERT_OK(warmUp(a.inputs, 2));
  uint64_t some = charged();
  SampleArguments same(40);
  ASSERT_OK(ashlar_session_run_entry(session, entry, same.inputs, 2,
                                     same.outputs, 1));
  same.expectResult();
  EXPECT_EQ(charged(), some);
  // Then of the largest.
  ASSERT_OK(warmUp());
  EXPECT_GT(charged(), some);
  some = charged();
  ASSERT_OK(
      ashlar_session_run_entry(session, entry, all.inputs, 2, all.outputs, 1));
  all.expectResult();
  EXPECT_EQ(charged(), some);
  EXPECT_EQ(held().runs, 4u);
  EXPECT_EQ(held().staged_tensors, 0u);
}

TEST_F(WarmUp, WhatARunWouldRefuseIt) {
  begin(symbolicModule());
  SampleArguments a;
  a.inputs[0].shape[0] = sampleCount + 1;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, warmUp(a.inputs, 2));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, warmUp(a.inputs, 1));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, warmUp(nullptr, 2));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_warm_up(nullptr, entry, nullptr, 0, 0));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_warm_up(session, nullptr, nullptr, 0, 0));
  EXPECT_EQ(held().runs, 0u);
}

TEST_F(WarmUp, AModelMayRefuseZeros) {
  begin(controlModule());
  expectSays(warmUp(), ASHLAR_INVALID_ARGUMENT, "second flag must be set");
  // Which changes nothing for those who ask for more.
  SampleArguments a;
  uint8_t flags[2] = {0, 1};
  ashlar_tensor_t inputs[2] = {a.inputs[0], flagsOf(flags)};
  ASSERT_OK(ashlar_session_run_entry(session, entry, inputs, 2, a.outputs, 1));
}

TEST_F(WarmUp, SizesThatDependOnDataAreNone) {
  begin(sizedModule());
  ASSERT_OK(warmUp());
  EXPECT_EQ(held().runs, 1u);
}

TEST_F(WarmUp, ItEndsInTime) {
  begin(spinningModule(2000, 200000));
  EXPECT_CODE(ASHLAR_CANCELLED, warmUp(nullptr, 0, 5000000));
}

} // namespace

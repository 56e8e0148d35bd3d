// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns at the gate, with a clock of the test's own.

#include "Gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace ashlar::runtime;

namespace {

/// Runs that wait at a gate of one worker; each takes as long as it says.
class Gates : public testing::Test {
protected:
  struct Run {
    Gate::Tenant *tenant;
    int32_t priority;
    uint64_t length;
    RunControl control;
    Gate::Pass pass;
    std::thread thread;
    std::atomic<int> state{0}; // 1: in, 2: turned away
  };
  /// One that holds the gate until `open` is called.
  void close() {
    gate.open(1);
    ASSERT_TRUE(gate.enter(blocker, 1, 0, free, blocked));
  }
  Run &wait(Gate::Tenant &tenant, uint64_t length, int32_t priority = 0) {
    runs.push_back(std::make_unique<Run>());
    Run &run = *runs.back();
    run.tenant = &tenant;
    run.priority = priority;
    run.length = length;
    size_t before = gate.waiting();
    run.thread = std::thread([&run, this] {
      bool isIn =
          gate.enter(*run.tenant, 1, run.priority, run.control, run.pass);
      run.state = isIn ? 1 : 2;
    });
    // In order: those that come later are behind.
    while (gate.waiting() == before)
      std::this_thread::yield();
    return run;
  }
  /// Lets all go, one after the other; gives the order by their numbers.
  std::vector<size_t> serve() {
    std::vector<size_t> order;
    gate.leave(blocked, 0);
    std::vector<bool> gone(runs.size());
    while (order.size() < runs.size()) {
      for (size_t i = 0; i < runs.size(); ++i)
        if (!gone[i] && runs[i]->state == 1) {
          gone[i] = true;
          order.push_back(i);
          runs[i]->thread.join();
          gate.leave(runs[i]->pass, runs[i]->length);
        }
      std::this_thread::yield();
    }
    return order;
  }
  Gate gate;
  Gate::Tenant blocker, a, b;
  RunControl free;
  Gate::Pass blocked;
  std::vector<std::unique_ptr<Run>> runs;
};

TEST_F(Gates, OneTenantsRunsGoByPriorityThenInOrder) {
  close();
  wait(a, 10);
  wait(a, 10, 5);
  wait(a, 10, -1);
  wait(a, 10, 5);
  EXPECT_EQ(serve(), (std::vector<size_t>{1, 3, 0, 2}));
}

TEST_F(Gates, TenantsTakeTurnsByTheWorkTheyHaveHad) {
  close();
  // a's runs take three times as long as b's.
  for (int i = 0; i < 3; ++i)
    wait(a, 300);
  for (int i = 0; i < 6; ++i)
    wait(b, 100);
  std::vector<size_t> order = serve();
  // Whatever the order within: behind each of a's stand three of b's.
  size_t bs = 0, as = 0;
  for (size_t i : order) {
    (i < 3 ? as : bs) += 1;
    if (as < 3 && bs < 6)
      EXPECT_LE(as * 300, bs * 100 + 600);
  }
  EXPECT_EQ(order[0], 0u);
  EXPECT_EQ(as, 3u);
}

TEST_F(Gates, SharesDivideTheClock) {
  b.share = 4;
  close();
  for (int i = 0; i < 2; ++i)
    wait(a, 100);
  for (int i = 0; i < 8; ++i)
    wait(b, 100);
  std::vector<size_t> order = serve();
  // After a's first, four of b's before its second.
  size_t second = 0;
  while (order[second] != 1)
    ++second;
  EXPECT_GE(second, 4u);
}

TEST_F(Gates, WhoWasIdleHasSavedUpNothing) {
  gate.open(1);
  Gate::Pass pass;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(gate.enter(a, 1, 0, free, pass));
    gate.leave(pass, 1000);
  }
  ASSERT_TRUE(gate.enter(blocker, 1, 0, free, blocked));
  for (int i = 0; i < 6; ++i)
    wait(b, 1000);
  for (int i = 0; i < 2; ++i)
    wait(a, 1000);
  std::vector<size_t> order = serve();
  // b has had nothing so far, and yet a is not last.
  size_t last = 0;
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] >= 6)
      last = i;
  EXPECT_LT(last, 7u);
}

TEST_F(Gates, WhoIsStoppedLeaves) {
  close();
  Run &cancelled = wait(a, 10);
  Run &other = wait(a, 10);
  cancelled.control.cancel();
  cancelled.thread.join();
  EXPECT_EQ(cancelled.state, 2);
  gate.leave(blocked, 0);
  other.thread.join();
  EXPECT_EQ(other.state, 1);
  gate.leave(other.pass, 10);
  // It has left nothing behind.
  Gate::Pass pass;
  EXPECT_TRUE(gate.enter(b, 1, 0, free, pass));
  gate.leave(pass, 1);
}

TEST_F(Gates, WideRunsAreNotOvertakenForever) {
  gate.open(2);
  Gate::Pass narrow;
  ASSERT_TRUE(gate.enter(a, 1, 0, free, narrow));
  Gate::Pass wide;
  std::atomic<bool> isIn{false};
  std::thread thread([&] {
    EXPECT_TRUE(gate.enter(b, 8, 0, free, wide)); // as many as there are
    isIn = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(isIn);
  gate.leave(narrow, 10);
  thread.join();
  EXPECT_EQ(wide.workers, 2u);
  gate.leave(wide, 10);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of random graphs beside all of their orders, counted by a rule that
// shares nothing with the search: what is alive at each moment, buffer by
// buffer.
#include "OperationOrder.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace ashlar;

namespace {
/// The peak of `order`, or -1 where it reads what is not there yet.
int64_t countPeak(const OrderProblem &problem, const std::vector<int> &order) {
  int n = int(order.size());
  int buffers = int(problem.buffers.size());
  std::vector<int> born(buffers, -1), dies(buffers, -1);
  std::vector<bool> isWritten(buffers);
  for (const OrderProblem::Operation &op : problem.operations)
    for (int b : op.writes)
      isWritten[b] = true;
  std::vector<bool> exists(buffers);
  for (int b = 0; b != buffers; ++b)
    exists[b] = !isWritten[b];
  for (int t = 0; t != n; ++t) {
    const OrderProblem::Operation &op = problem.operations[order[t]];
    for (int b : op.reads) {
      if (!exists[b])
        return -1;
      dies[b] = t;
    }
    for (int b : op.writes) {
      exists[b] = true;
      born[b] = dies[b] = t;
    }
  }
  int64_t peak = 0;
  for (int b = 0; b != buffers; ++b)
    if (problem.buffers[b].isKept)
      dies[b] = n;
  // Before the first moment what is there at the start is alive.
  for (int t = -1; t != n; ++t) {
    int64_t alive = 0;
    for (int b = 0; b != buffers; ++b)
      if (born[b] <= t && (t <= dies[b] || (t == -1 && born[b] == -1)))
        alive += problem.buffers[b].bytes;
    if (t >= 0 && !problem.operations[order[t]].writes.empty())
      for (int b : problem.operations[order[t]].takesOver)
        if (dies[b] == t) {
          alive -= problem.buffers[b].bytes;
          break;
        }
    peak = std::max(peak, alive);
  }
  return peak;
}

OrderProblem randomProblem(std::mt19937 &random, int operations) {
  auto upTo = [&](int n) { return int(random() % unsigned(n)); };
  OrderProblem problem;
  problem.buffers.push_back({64 * (1 + upTo(4)), false});
  for (int i = 0; i != operations; ++i) {
    OrderProblem::Operation op;
    std::set<int> reads;
    for (int k = upTo(3); k >= 0; --k)
      reads.insert(upTo(int(problem.buffers.size())));
    op.reads.assign(reads.begin(), reads.end());
    int64_t bytes = 64 * (1 + upTo(9));
    // Only what is as large can be written over.
    for (int b : op.reads)
      if (upTo(2) == 0 && problem.buffers[b].bytes == bytes)
        op.takesOver.push_back(b);
    op.writes.push_back(int(problem.buffers.size()));
    problem.buffers.push_back({bytes, upTo(6) == 0});
    if (upTo(5) == 0) {
      op.writes.push_back(int(problem.buffers.size()));
      problem.buffers.push_back({64 * upTo(3), false});
    }
    problem.operations.push_back(op);
  }
  return problem;
}

TEST(OperationOrderTest, NoOrderOfASmallGraphIsBetter) {
  std::mt19937 random(7);
  int improved = 0;
  for (int trial = 0; trial != 300; ++trial) {
    OrderProblem problem = randomProblem(random, 2 + trial % 6);
    OperationOrder found = orderForLowestPeak(problem);
    std::vector<int> order(problem.operations.size());
    std::iota(order.begin(), order.end(), 0);
    EXPECT_EQ(found.originalPeak, countPeak(problem, order));
    int64_t lowest = found.originalPeak;
    do {
      int64_t peak = countPeak(problem, order);
      if (peak >= 0)
        lowest = std::min(lowest, peak);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(found.peak, lowest) << "trial " << trial;
    EXPECT_EQ(countPeak(problem, found.order), found.peak);
    EXPECT_TRUE(found.isExact);
    improved += found.peak < found.originalPeak;
  }
  EXPECT_GT(improved, 30);
}

TEST(OperationOrderTest, ASearchCutShortIsNoWorseThanTheOrderGiven) {
  std::mt19937 random(8);
  int improved = 0;
  for (int trial = 0; trial != 20; ++trial) {
    OrderProblem problem = randomProblem(random, 120);
    OperationOrder found = orderForLowestPeak(problem, /*mostWork=*/2000);
    EXPECT_EQ(countPeak(problem, found.order), found.peak);
    EXPECT_LE(found.peak, found.originalPeak);
    improved += found.peak < found.originalPeak;
    std::vector<int> again = orderForLowestPeak(problem, 2000).order;
    EXPECT_EQ(found.order, again);
  }
  EXPECT_GT(improved, 10);
}

TEST(OperationOrderTest, AnOrderThatCannotBeBetterStays) {
  // Two results of one input, each read once: 0 and 1 are alike.
  OrderProblem problem;
  problem.buffers = {{64, false}, {64, false}, {64, true}};
  problem.operations = {{{0}, {1}, {}}, {{1}, {2}, {}}};
  OperationOrder found = orderForLowestPeak(problem);
  EXPECT_EQ(found.order, (std::vector<int>{0, 1}));
  EXPECT_EQ(found.peak, 128);
  EXPECT_TRUE(found.isExact);
  EXPECT_TRUE(orderForLowestPeak({}).order.empty());
}

TEST(OperationOrderTest, WhatIsAllKeptIsNotSearched) {
  // What a loop carries: any order ends with all of it, and none goes beyond.
  OrderProblem problem;
  for (int i = 0; i != 200; ++i) {
    problem.buffers.push_back({64, true});
    problem.operations.push_back({{}, {i}, {}});
  }
  OperationOrder found = orderForLowestPeak(problem);
  EXPECT_EQ(found.peak, 200 * 64);
  EXPECT_TRUE(found.isExact);
  EXPECT_EQ(found.work, 0);
}

TEST(OperationOrderTest, ASearchKeepsToItsWork) {
  // One that is not kept, read last: no bound is met at once.
  OrderProblem problem;
  for (int i = 0; i != 60; ++i) {
    problem.buffers.push_back({64 * (1 + i % 7), i % 2 == 0});
    problem.operations.push_back({{}, {i}, {}});
  }
  problem.buffers.push_back({64, true});
  problem.operations.push_back({{1, 3, 5, 7, 9, 11}, {60}, {}});
  for (int64_t most : {100'000, 1'000'000}) {
    OperationOrder found = orderForLowestPeak(problem, most);
    EXPECT_GT(found.work, 0);
    // One state more, and what the last one led to.
    EXPECT_LE(found.work, most + 62 * 61);
    EXPECT_EQ(countPeak(problem, found.order), found.peak);
  }
}

TEST(OperationOrderTest, BranchesAreFinishedOneAfterTheOther) {
  // Two branches that are wide inside, begun both at once: finishing one first
  // leaves only its small result.
  OrderProblem problem;
  problem.buffers = {{64, false}, {640, false}, {640, false},
                     {64, false}, {64, false},  {64, true}};
  problem.operations = {{{0}, {1}, {}},
                        {{0}, {2}, {}},
                        {{1}, {3}, {}},
                        {{2}, {4}, {}},
                        {{3, 4}, {5}, {}}};
  OperationOrder found = orderForLowestPeak(problem);
  EXPECT_EQ(found.originalPeak, 1344);
  EXPECT_EQ(found.peak, 768);
  EXPECT_EQ(found.order, (std::vector<int>{0, 2, 1, 3, 4}));
}

/// The problem and order with `again` in them.
std::pair<OrderProblem, std::vector<int>>
repeat(OrderProblem problem, std::vector<int> order,
       const Rematerialization &again) {
  int buffer = problem.operations[again.writer].writes[0];
  int copy = int(problem.buffers.size());
  problem.buffers.push_back(problem.buffers[buffer]);
  for (int reader : again.readers) {
    OrderProblem::Operation &op = problem.operations[reader];
    std::replace(op.reads.begin(), op.reads.end(), buffer, copy);
    std::replace(op.takesOver.begin(), op.takesOver.end(), buffer, copy);
  }
  order.insert(std::find(order.begin(), order.end(), again.before),
               int(problem.operations.size()));
  std::vector<int> reads = problem.operations[again.writer].reads;
  problem.operations.push_back({reads, {copy}, {}});
  return {problem, order};
}

TEST(RematerializationTest, WhatLiesIdleAtThePeakIsMadeAgain) {
  // A large result that is read before and after a larger one.
  OrderProblem problem;
  problem.buffers = {{64, false}, {640, false},  {64, false},
                     {64, false}, {1280, false}, {64, true}};
  problem.operations = {{{0}, {1}, {}},
                        {{1}, {2}, {}},
                        {{2}, {4}, {}},
                        {{4}, {3}, {}},
                        {{1, 3}, {5}, {}}};
  std::vector<int> order = {0, 1, 2, 3, 4};
  EXPECT_EQ(countPeak(problem, order), 640 + 64 + 1280);
  std::vector<bool> all(5, true), butTheFirst = {false, true, true, true, true};
  EXPECT_FALSE(chooseRematerialization(problem, order, butTheFirst, 1400));
  auto again = chooseRematerialization(problem, order, all, 1400);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->writer, 0);
  EXPECT_EQ(again->before, 4);
  EXPECT_EQ(again->readers, std::vector<int>{4});
  auto [changed, longer] = repeat(problem, order, *again);
  EXPECT_EQ(countPeak(changed, longer), 64 + 64 + 1280);
}

TEST(RematerializationTest, NoPeakGrowsAndOnlyWhatMayIsRepeated) {
  std::mt19937 random(9);
  int improved = 0;
  for (int trial = 0; trial != 300; ++trial) {
    OrderProblem problem = randomProblem(random, 12);
    std::vector<int> order(problem.operations.size());
    std::iota(order.begin(), order.end(), 0);
    int64_t before = countPeak(problem, order);
    std::vector<bool> repeatable;
    for (size_t i = 0; i != order.size(); ++i)
      repeatable.push_back(random() % 2);
    auto again = chooseRematerialization(problem, order, repeatable, 0);
    if (!again)
      continue;
    EXPECT_TRUE(repeatable[again->writer]);
    auto [changed, longer] = repeat(problem, order, *again);
    int64_t after = countPeak(changed, longer);
    EXPECT_GE(after, 0) << "trial " << trial << " reads what is not there";
    EXPECT_LE(after, before) << "trial " << trial;
    improved += after < before;
  }
  EXPECT_GT(improved, 20);
}
} // namespace

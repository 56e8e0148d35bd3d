// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random lifetimes against a checker that shares nothing with the planner: it
// looks at every pair of buffers and every point in time.
#include "ArenaPlan.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>
#include <vector>

using namespace ashlar;

namespace {
using Requests = std::vector<ArenaRequest>;

int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Bytes that live at one time, at most, each buffer on its own cache lines.
int64_t mostAlive(const Requests &requests) {
  int64_t most = 0;
  for (const ArenaRequest &at : requests) {
    int64_t alive = 0;
    for (const ArenaRequest &other : requests)
      if (other.lower <= at.lower && at.lower < other.upper)
        alive += rounded(other.bytes);
    most = std::max(most, alive);
  }
  return most;
}

/// Every buffer is aligned, within the arena and alone in its place while it
/// lives.
void expectValid(const Requests &requests, const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), requests.size());
  int64_t end = 0;
  for (size_t i = 0; i != requests.size(); ++i) {
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_EQ(plan.offsets[i] % 64, 0) << "request " << i;
    EXPECT_LE(plan.offsets[i] + requests[i].bytes, plan.bytes)
        << "request " << i;
    end = std::max(end, plan.offsets[i] + rounded(requests[i].bytes));
    for (size_t j = 0; j != i; ++j) {
      bool meetInTime = requests[i].lower < requests[j].upper &&
                        requests[j].lower < requests[i].upper;
      bool meetInSpace =
          plan.offsets[i] < plan.offsets[j] + requests[j].bytes &&
          plan.offsets[j] < plan.offsets[i] + requests[i].bytes;
      EXPECT_FALSE(meetInTime && meetInSpace)
          << "requests " << j << " and " << i << " overlap";
    }
  }
  EXPECT_EQ(plan.bytes, end) << "the arena ends with its last buffer";
  EXPECT_EQ(plan.lowerBound, mostAlive(requests));
  EXPECT_GE(plan.bytes, plan.lowerBound);
}

/// Lifetimes as models have them: most are short, a few last.
Requests randomRequests(std::mt19937 &random) {
  auto below = [&](int64_t limit) { return int64_t(random() % limit); };
  Requests requests;
  int64_t count = below(80), commands = 1 + below(60);
  for (int64_t i = 0; i != count; ++i) {
    int64_t lower = below(commands);
    int64_t length = below(8) == 0 ? commands : 1 + below(4);
    int64_t bytes = below(5) == 0 ? below(100000) : below(700);
    requests.push_back({lower, lower + length, bytes});
  }
  return requests;
}
} // namespace

TEST(ArenaPlanTest, NoRequestsNeedNoBytes) {
  ArenaPlan plan = planArena({});
  EXPECT_TRUE(plan.offsets.empty());
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.lowerBound, 0);
}

TEST(ArenaPlanTest, BuffersThatFollowEachOtherShareAPlace) {
  // `upper` is exclusive: the second begins when the first has ended.
  Requests requests = {{0, 2, 100}, {2, 4, 100}, {4, 5, 100}};
  ArenaPlan plan = planArena(requests);
  expectValid(requests, plan);
  EXPECT_EQ(plan.bytes, 128);
}

TEST(ArenaPlanTest, BuffersThatLiveTogetherLieSideBySide) {
  Requests requests = {{0, 3, 64}, {1, 4, 64}, {2, 5, 64}};
  ArenaPlan plan = planArena(requests);
  expectValid(requests, plan);
  EXPECT_EQ(plan.bytes, 192);
  EXPECT_EQ(plan.lowerBound, 192);
}

TEST(ArenaPlanTest, ASmallBufferFillsTheGapOfADeadOne) {
  // The first is dead when the third comes, which fits into its place.
  Requests requests = {{0, 2, 256}, {0, 4, 512}, {3, 4, 128}};
  ArenaPlan plan = planArena(requests);
  expectValid(requests, plan);
  EXPECT_EQ(plan.bytes, 768);
}

TEST(ArenaPlanTest, AnEmptyBufferTakesNoPlace) {
  Requests requests = {{0, 2, 64}, {0, 2, 0}, {1, 2, 64}};
  ArenaPlan plan = planArena(requests);
  expectValid(requests, plan);
  EXPECT_EQ(plan.bytes, 128);
}

TEST(ArenaPlanTest, SizesBeyondFourGigabytesAreExact) {
  int64_t large = (int64_t(5) << 30) + 1;
  Requests requests = {{0, 2, large}, {1, 3, large}};
  ArenaPlan plan = planArena(requests);
  expectValid(requests, plan);
  EXPECT_EQ(plan.bytes, 2 * rounded(large));
}

TEST(ArenaPlanTest, RandomLifetimesNeverOverlap) {
  std::mt19937 random(20240607);
  for (int round = 0; round != 500; ++round) {
    SCOPED_TRACE(round);
    Requests requests = randomRequests(random);
    expectValid(requests, planArena(requests));
    if (HasFailure())
      return;
  }
}

TEST(ArenaPlanTest, EqualRequestsGiveEqualPlans) {
  std::mt19937 random(7);
  for (int round = 0; round != 50; ++round) {
    Requests requests = randomRequests(random);
    ArenaPlan first = planArena(requests);
    ArenaPlan second = planArena(Requests(requests));
    EXPECT_EQ(first.offsets, second.offsets);
    EXPECT_EQ(first.bytes, second.bytes);
  }
}

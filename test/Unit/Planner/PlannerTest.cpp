// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans against a checker that shares nothing with the planner, against an
// exhaustive search on problems small enough, and against problems cut out of
// a full rectangle, whose best peak is known.
#include "ashlar/Planner/Planner.h"
#include "ashlar/Planner/Generate.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>

using namespace ashlar::planner;

namespace {
using Buffers = std::vector<Buffer>;

Limits stepLimit(int64_t steps) {
  Limits limits;
  limits.steps = steps;
  return limits;
}

int64_t mostAlive(const Buffers &buffers) {
  int64_t most = 0;
  for (const Buffer &at : buffers) {
    int64_t alive = 0;
    for (const Buffer &other : buffers)
      if (other.lower <= at.lower && at.lower < other.upper)
        alive += other.bytes;
    most = std::max(most, alive);
  }
  return most;
}

/// Looks at every pair of buffers.
void expectValid(const Buffers &buffers, const Plan &plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  int64_t end = 0;
  for (size_t i = 0; i != buffers.size(); ++i) {
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_EQ(plan.offsets[i] % buffers[i].alignment, 0) << "buffer " << i;
    end = std::max(end, plan.offsets[i] + buffers[i].bytes);
    for (size_t j = 0; j != i; ++j) {
      bool meetInTime = buffers[i].lower < buffers[j].upper &&
                        buffers[j].lower < buffers[i].upper;
      bool meetInSpace = plan.offsets[i] < plan.offsets[j] + buffers[j].bytes &&
                         plan.offsets[j] < plan.offsets[i] + buffers[i].bytes;
      EXPECT_FALSE(meetInTime && meetInSpace && buffers[i].bytes != 0 &&
                   buffers[j].bytes != 0)
          << "buffers " << j << " and " << i << " overlap";
    }
  }
  EXPECT_EQ(plan.peak, end) << "the peak is the end of the highest buffer";
  EXPECT_GE(plan.peak, plan.lowerBound);
  EXPECT_GE(plan.provenBound, plan.lowerBound);
  EXPECT_LE(plan.peak, plan.greedyPeak);
}

/// The lowest peak of all orders in which the buffers can be put down, each as
/// low as it goes on top of what is there: one of them is the best plan.
int64_t lowestPeak(const Buffers &buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t lowest = INT64_MAX;
  do {
    std::vector<int64_t> tops(buffers.size(), 0);
    int64_t peak = 0;
    for (size_t k = 0; k != order.size(); ++k) {
      const Buffer &buffer = buffers[order[k]];
      int64_t offset = 0;
      for (size_t l = 0; l != k; ++l) {
        const Buffer &other = buffers[order[l]];
        if (other.lower < buffer.upper && buffer.lower < other.upper)
          offset = std::max(offset, tops[order[l]]);
      }
      while (offset % buffer.alignment != 0)
        ++offset;
      tops[order[k]] = offset + buffer.bytes;
      peak = std::max(peak, tops[order[k]]);
    }
    lowest = std::min(lowest, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return lowest;
}

Buffers randomBuffers(Random &random, int64_t count, bool aligned) {
  Buffers buffers;
  for (int64_t i = 0; i != count; ++i) {
    int64_t lower = random.below(6);
    buffers.push_back({lower, lower + 1 + random.below(4), random.below(9),
                       aligned ? int64_t(1) << random.below(4) : 1});
  }
  return buffers;
}
} // namespace

TEST(PlannerTest, NoBuffersNeedNoBytes) {
  Plan plan = planLowest({});
  EXPECT_EQ(plan.peak, 0);
  EXPECT_TRUE(plan.isOptimal());
}

TEST(PlannerTest, BuffersThatFollowEachOtherShareAPlace) {
  Buffers buffers = {{0, 2, 100}, {2, 4, 100}, {4, 5, 100}};
  Plan plan = planLowest(buffers);
  expectValid(buffers, plan);
  EXPECT_EQ(plan.peak, 100);
}

TEST(PlannerTest, SmallProblemsAreSolvedExactly) {
  Random random(1);
  for (int round = 0; round != 300; ++round) {
    SCOPED_TRACE(round);
    Buffers buffers = randomBuffers(random, 1 + random.below(7), false);
    Plan plan = planLowest(buffers);
    expectValid(buffers, plan);
    EXPECT_TRUE(plan.isOptimal());
    EXPECT_EQ(plan.peak, lowestPeak(buffers));
    EXPECT_EQ(plan.lowerBound, mostAlive(buffers));
    if (HasFailure())
      return;
  }
}

TEST(PlannerTest, AlignmentsOfEachBufferAreKeptAndCostNoMoreThanTheyMust) {
  Random random(2);
  for (int round = 0; round != 300; ++round) {
    SCOPED_TRACE(round);
    Buffers buffers = randomBuffers(random, 1 + random.below(6), true);
    Plan plan = planLowest(buffers);
    expectValid(buffers, plan);
    EXPECT_TRUE(plan.isOptimal());
    EXPECT_EQ(plan.peak, lowestPeak(buffers));
    if (HasFailure())
      return;
  }
}

TEST(PlannerTest, APlanWithoutAGapIsFound) {
  for (uint64_t seed = 1; seed != 40; ++seed) {
    SCOPED_TRACE(seed);
    int64_t capacity = 100000 + int64_t(seed);
    Buffers buffers = generateTiling(5 + int64_t(seed), capacity, seed);
    EXPECT_EQ(mostAlive(buffers), capacity);
    Plan plan = planLowest(buffers, stepLimit(200'000'000));
    expectValid(buffers, plan);
    EXPECT_EQ(plan.peak, capacity);
    EXPECT_TRUE(plan.isOptimal());
  }
}

TEST(PlannerTest, ASearchCutShortGivesAValidPlanNoWorseThanGreedy) {
  for (uint64_t seed = 1; seed != 20; ++seed) {
    SCOPED_TRACE(seed);
    Buffers buffers = generateTiling(300, 1 << 20, seed);
    Plan plan = planLowest(buffers, stepLimit(100'000));
    expectValid(buffers, plan);
    EXPECT_EQ(plan.greedyPeak, planGreedily(buffers).peak);
  }
}

TEST(PlannerTest, LivesOfNetworksNeedNoMoreThanTheLowerBound) {
  for (uint64_t seed = 1; seed != 20; ++seed) {
    SCOPED_TRACE(seed);
    Buffers buffers = generateNetwork(400, seed);
    Plan plan = planLowest(buffers, stepLimit(100'000'000));
    expectValid(buffers, plan);
    EXPECT_LE(double(plan.peak), 1.02 * double(plan.lowerBound));
  }
}

TEST(PlannerTest, EqualInputAndStepsGiveEqualOffsets) {
  for (uint64_t seed = 1; seed != 10; ++seed) {
    Buffers buffers = generateTiling(100, 1 << 20, seed);
    Plan first = planLowest(buffers, stepLimit(3'000'000));
    Plan second = planLowest(Buffers(buffers), stepLimit(3'000'000));
    EXPECT_EQ(first.offsets, second.offsets);
    EXPECT_EQ(first.steps, second.steps);
  }
}

TEST(PlannerTest, ACapacityThatCannotBeMetIsProvenSo) {
  // The aligned ones cannot be side by side without a gap, and the third fits
  // into none.
  Buffers buffers = {{0, 1, 5, 4}, {0, 1, 5, 4}, {0, 1, 5, 1}};
  int64_t lowest = lowestPeak(buffers);
  Plan plan = planWithin(buffers, lowest - 1);
  expectValid(buffers, plan);
  EXPECT_GT(plan.provenBound, lowest - 1);
  EXPECT_GT(plan.peak, plan.lowerBound);
  EXPECT_EQ(plan.peak, lowest);
}

TEST(PlannerTest, TimeIsALimitToo) {
  Limits limits = stepLimit(INT64_MAX);
  limits.seconds = 0.05;
  Buffers buffers = generateTiling(2000, 1 << 24, 3);
  expectValid(buffers, planLowest(buffers, limits));
}

TEST(PlannerTest, ManyBuffersArePlannedGreedily) {
  Buffers buffers = generateNetwork(100'000, 5);
  Plan plan = planLowest(buffers);
  EXPECT_LE(double(plan.peak), 1.02 * double(plan.lowerBound));
}

TEST(PlannerTest, UnsoundBuffersAreTold) {
  EXPECT_TRUE(areSound({{0, 1, 0}, {-5, 7, 100}}));
  EXPECT_FALSE(areSound({{0, 1, -1}}));
  EXPECT_FALSE(areSound({{3, 3, 1}}));
  EXPECT_FALSE(areSound({{0, 1, 1, 0}}));
  EXPECT_FALSE(areSound({{0, 1, int64_t(1) << 59}, {0, 1, int64_t(1) << 59}}));
}

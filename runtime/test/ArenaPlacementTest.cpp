// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for sizes that a caller has chosen: nothing that lives at the same
// time overlaps, and little more is needed than must be.

#include "ArenaPlacement.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace ashlar::runtime;

namespace {

/// The largest sum of sizes that live at one time.
uint64_t lowerBound(const Vector<ArenaValue> &values) {
  uint64_t most = 0;
  for (const ArenaValue &at : values) {
    uint64_t sum = 0;
    for (const ArenaValue &other : values)
      if (other.first <= at.first && at.first <= other.last)
        sum += other.size;
    most = std::max(most, sum);
  }
  return most;
}

void expectSound(const Vector<ArenaValue> &values, uint64_t end) {
  for (size_t i = 0; i != values.size(); ++i) {
    const ArenaValue &x = values[i];
    EXPECT_EQ(x.offset % 64, 0u);
    EXPECT_LE(x.offset + x.size, end);
    for (size_t j = 0; j != i; ++j) {
      const ArenaValue &y = values[j];
      bool meet = x.first <= y.last && y.first <= x.last;
      bool overlap =
          x.offset < y.offset + y.size && y.offset < x.offset + x.size;
      EXPECT_FALSE(meet && overlap) << "values " << i << " and " << j;
    }
  }
}

/// A chain of layers with a few values that live longer, as networks have.
Vector<ArenaValue> makeNetwork(unsigned seed, unsigned length) {
  std::mt19937 random(seed);
  Vector<ArenaValue> values;
  for (uint32_t i = 0; i != length; ++i) {
    ArenaValue value;
    value.size = 64 * (1 + random() % 1000);
    value.first = i;
    value.last = i + 1 + (random() % 5 == 0 ? random() % 8 : 0);
    values.push_back(value);
  }
  return values;
}

TEST(ArenaPlacement, NeverOverlaps) {
  for (unsigned seed = 0; seed != 50; ++seed) {
    Vector<ArenaValue> values = makeNetwork(seed, 100);
    expectSound(values, placeInArena(values));
  }
}

TEST(ArenaPlacement, KeepsThePlanWhereAllSizesShrinkAlike) {
  for (unsigned seed = 0; seed != 50; ++seed) {
    Vector<ArenaValue> values = makeNetwork(seed, 100);
    for (ArenaValue &value : values)
      value.size *= 8;
    uint64_t largest = placeInArena(values);
    for (ArenaValue &value : values) {
      value.planned = value.offset;
      value.size /= 8;
    }
    uint64_t end = placeInArena(values);
    expectSound(values, end);
    EXPECT_LE(end, largest / 8);
  }
}

TEST(ArenaPlacement, NeedsLittleMoreThanItMust) {
  double worst = 0, sum = 0;
  for (unsigned seed = 0; seed != 50; ++seed) {
    Vector<ArenaValue> values = makeNetwork(seed, 100);
    uint64_t end = placeInArena(values);
    double ratio = double(end) / double(lowerBound(values));
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  EXPECT_LE(sum / 50, 1.1);
  EXPECT_LE(worst, 1.35);
}

TEST(ArenaPlacement, TakesNothing) {
  Vector<ArenaValue> values;
  EXPECT_EQ(placeInArena(values), 0u);
  values.push_back({});
  EXPECT_EQ(placeInArena(values), 0u);
}

} // namespace

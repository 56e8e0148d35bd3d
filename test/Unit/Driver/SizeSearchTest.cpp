// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges that are suggested, by what a model is said to take.
#include "SizeSearch.h"
#include "gtest/gtest.h"

using namespace ashlar;

namespace {
/// A model of frames: all sizes must be multiples of one number.
struct Framed {
  int64_t frame;
  unsigned trials = 0, looks = 0;

  bool works(const SizeRange &range) {
    ++trials;
    return range.minimum == range.maximum ||
           (range.step % frame == 0 && range.minimum % frame == 0);
  }
  std::vector<SizeRange> find(const SizeRange &refused,
                              std::vector<int64_t> divisors) {
    SizeTrials all;
    all.works = [&](const std::vector<SizeRange> &sizes) {
      return works(sizes[0]);
    };
    all.compiles = [](const std::vector<int64_t> &) { return true; };
    all.divisors = std::move(divisors);
    all.growsEvenly = [&](const std::vector<int64_t> &point, size_t symbol,
                          int64_t step) {
      ++looks;
      EXPECT_EQ(point[symbol] % step, 0);
      return step % frame == 0;
    };
    return findWorkingRanges({refused}, all);
  }
};

TEST(SizeSearchTest, StepsAreWhatAModelDividesBy) {
  Framed model{441};
  auto found = model.find({"N", 1000, 5000}, {-1, 0, 1, 2, 7, 441, 1 << 30});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text(), "N=1323..4851:441");
  // Who does not grow evenly is not compiled.
  EXPECT_EQ(model.looks, 3u);
}

TEST(SizeSearchTest, StepsAreMultiplesOfWhatWasAskedFor) {
  Framed model{96};
  auto found = model.find({"N", 20, 1000, 20}, {48, 96});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text(), "N=480..960:480");
}

TEST(SizeSearchTest, OneSizeIsNoRange) {
  Framed model{96};
  EXPECT_TRUE(model.find({"N", 90, 150}, {96}).empty());
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said of random formulas, beside their values at every size.
#include "SizeBounds.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace ashlar;

namespace {
struct SizeBoundsTest : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  AffineExpr n = getAffineSymbolExpr(0, &context),
             w = getAffineSymbolExpr(1, &context);
  std::vector<SizeRange> ranges = {SizeRange{"N", 2, 9},
                                   SizeRange{"W", 8, 40, 4}};

  bool isWithin(AffineExpr formula, const SizePoint &point) const {
    auto value = evaluateFormula(formula, point);
    return *value >= 0 &&
           *value <= *evaluateFormula(formula,
                                      {ranges[0].maximum, ranges[1].maximum});
  }
  /// Whether it is within at every size.
  bool holds(AffineExpr formula) const {
    bool all = true;
    for (int64_t i = ranges[0].minimum; i <= ranges[0].maximum; ++i)
      for (int64_t j = ranges[1].minimum; j <= ranges[1].maximum;
           j += ranges[1].step)
        all &= isWithin(formula, {i, j});
    return all;
  }
  std::optional<OutgrownSize> find(AffineExpr formula) const {
    return SizeBounds(ranges).find(formula);
  }
};
} // namespace

TEST_F(SizeBoundsTest, RandomFormulasAreJudgedAsAtEachSize) {
  std::mt19937 random(1);
  auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  unsigned outgrown = 0;
  for (unsigned trial = 0; trial != 3000; ++trial) {
    auto line = [&](AffineExpr s) {
      return (s + draw(0, 7)).floorDiv(draw(1, 8)) * draw(-3, 3) +
             s * draw(-1, 2) + draw(-2, 60);
    };
    AffineExpr formula = draw(0, 1) ? line(n) + line(w) : line(n) * line(w);
    auto found = find(formula);
    ASSERT_EQ(found.has_value(), !holds(formula));
    if (!found)
      continue;
    ++outgrown;
    const SizePoint &point = found->point;
    ASSERT_FALSE(isWithin(formula, point));
    if (!found->cut)
      continue;
    // The bad size is below the cut, and with it there is a part on both sides.
    auto [symbol, first] = *found->cut;
    EXPECT_LT(point[symbol], first);
    EXPECT_LE(first, ranges[symbol].maximum);
    EXPECT_EQ((first - ranges[symbol].minimum) % ranges[symbol].step, 0);
    bool alone = point[1 - symbol] == ranges[1 - symbol].maximum;
    SizePoint at = {ranges[0].maximum, ranges[1].maximum};
    for (at[symbol] = first; alone && at[symbol] <= ranges[symbol].maximum;
         at[symbol] += ranges[symbol].step)
      EXPECT_TRUE(isWithin(formula, at));
  }
  EXPECT_GT(outgrown, 300u);
  EXPECT_LT(outgrown, 2700u);
}

TEST_F(SizeBoundsTest, LargeRangesAreProvenByForm) {
  ranges = {SizeRange{"N", 1, int64_t(1) << 40}, SizeRange{"W", 1, 1 << 20}};
  EXPECT_FALSE(find((n + 7).floorDiv(8) * 4 + w));
  EXPECT_FALSE(find(n * (w + 3)));
  ranges[0].maximum = 3000;
  // n - n / 2 grows, which its form does not show.
  EXPECT_FALSE(find((n - n.floorDiv(2)) * (w + 3)));
}

TEST_F(SizeBoundsTest, WhatCannotBeLookedAtEverywhereIsNotHeld) {
  ranges = {SizeRange{"N", 1, int64_t(1) << 40},
            SizeRange{"W", 1, int64_t(1) << 40}};
  auto found = find(n - n.floorDiv(2) + w);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->point.empty());
  EXPECT_FALSE(found->cut);
}

TEST_F(SizeBoundsTest, AFallingSizeIsCutAtTheLargest) {
  auto found = find(getAffineConstantExpr(60, &context) - w);
  ASSERT_TRUE(found && found->cut);
  EXPECT_EQ(found->cut->symbol, 1u);
  EXPECT_EQ(found->cut->first, 40);
}

TEST_F(SizeBoundsTest, WhatTwoSymbolsDoTogetherIsFound) {
  // Alone, neither changes it.
  auto formula = (n - 9) * (w - 40) * -1 + 100;
  auto found = find(formula);
  ASSERT_TRUE(found && found->cut);
  EXPECT_FALSE(isWithin(formula, found->point));
  EXPECT_EQ(found->cut->symbol, 1u);
  EXPECT_LT(found->point[1], found->cut->first);
}

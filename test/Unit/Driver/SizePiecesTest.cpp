// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of ranges, beside the sizes themselves: each is in one part, and no
// part holds sizes of two forms.
#include "SizePieces.h"
#include "gtest/gtest.h"
#include <map>

using namespace ashlar;

namespace {
using Ranges = std::vector<SizeRange>;

/// A model that is another one from each of some sizes of N on.
struct Model {
  std::vector<int64_t> turns;
  bool tellsWhere = true;
  std::vector<Ranges> working = {};
  unsigned trials = 0;

  int formOf(int64_t n) const {
    int form = 0;
    for (int64_t turn : turns)
      form += n >= turn;
    return form;
  }
  SizeTrial tries(const Ranges &ranges) {
    ++trials;
    const SizeRange &n = ranges[0];
    if (formOf(n.minimum) == formOf(n.maximum)) {
      working.push_back(ranges);
      return {SizeTrial::Works};
    }
    if (!tellsWhere)
      return {SizeTrial::Differs};
    int64_t first = n.maximum;
    while (formOf(first - n.step) == formOf(n.maximum))
      first -= n.step;
    return {SizeTrial::Differs, SizeCut{0, first}};
  }
  bool cut(const Ranges &whole, unsigned most) {
    SizeTrial known = tries(whole);
    working.clear();
    return cutIntoPieces(whole, known, most,
                         [&](const Ranges &part) { return tries(part); });
  }
};

void expectEachOnce(const Model &model, const SizeRange &whole) {
  for (int64_t n = whole.minimum; n <= whole.maximum; n += whole.step) {
    int parts = 0;
    for (const Ranges &part : model.working)
      parts += n >= part[0].minimum && n <= part[0].maximum;
    EXPECT_EQ(parts, 1) << n;
  }
}

TEST(SizePiecesTest, EachSizeIsInOnePart) {
  for (int64_t step : {1, 4}) {
    Model model{{8, 20, 24}};
    Ranges whole = {SizeRange{"N", 4, 100 * step, step}, SizeRange{"W", 1, 9}};
    EXPECT_TRUE(model.cut(whole, 16));
    expectEachOnce(model, whole[0]);
    EXPECT_EQ(model.working.size(), 4u);
    EXPECT_EQ(model.working.front()[0].maximum, 100 * step);
    for (const Ranges &part : model.working)
      EXPECT_EQ(part[1].text(), "W=1..9");
  }
}

TEST(SizePiecesTest, FewSizesThatDifferSomehowAreHalved) {
  Model model{{2, 3, 4, 5}, /*tellsWhere=*/false};
  Ranges whole = {SizeRange{"N", 1, 8}};
  EXPECT_TRUE(model.cut(whole, 8));
  expectEachOnce(model, whole[0]);
  EXPECT_EQ(model.working.front()[0].text(), "N=5..8");
  // What counts is how many parts there must be, not how many sizes.
  Model many{{50}, false};
  EXPECT_TRUE(many.cut({SizeRange{"N", 1, 100}}, 8));
  expectEachOnce(many, SizeRange{"N", 1, 100});
  Model fewer{{50}, false};
  EXPECT_FALSE(fewer.cut({SizeRange{"N", 1, 100}}, 7));
  EXPECT_LT(fewer.trials, 14u);
}

TEST(SizePiecesTest, WhatDiffersAtEachOfFewSizesHasAPartForEach) {
  std::vector<Ranges> working;
  unsigned trials = 0;
  auto tries = [&](const Ranges &part) -> SizeTrial {
    ++trials;
    if (part[0].minimum != part[0].maximum)
      return {SizeTrial::Differs};
    working.push_back(part);
    return {SizeTrial::Works};
  };
  Ranges whole = {SizeRange{"B", 2, 8, 2}, SizeRange{"T", 4, 500}};
  EXPECT_TRUE(cutIntoPieces(whole, {SizeTrial::Differs}, 4, tries));
  ASSERT_EQ(working.size(), 4u);
  EXPECT_EQ(trials, 4u);
  for (int64_t i = 0; i != 4; ++i) {
    EXPECT_EQ(working[i][0].minimum, 8 - 2 * i);
    EXPECT_EQ(working[i][1].text(), "T=4..500");
  }
  // There are more of them than parts.
  working.clear();
  EXPECT_FALSE(cutIntoPieces(whole, {SizeTrial::Differs}, 3, tries));
}

TEST(SizePiecesTest, ThereAreNoMoreThanAsked) {
  for (unsigned most : {1, 2, 3}) {
    Model model{{20, 40, 60}};
    EXPECT_FALSE(model.cut({SizeRange{"N", 1, 100}}, most));
    EXPECT_LE(model.working.size(), most);
  }
  Model model{{20, 40, 60}};
  EXPECT_TRUE(model.cut({SizeRange{"N", 1, 100}}, 4));
}

TEST(SizePiecesTest, WhatDiffersAtEachSizeIsGivenUpEarly) {
  Model model;
  for (int64_t n = 1; n != 100; ++n)
    model.turns.push_back(n);
  EXPECT_FALSE(model.cut({SizeRange{"N", 1, 99}}, 16));
  EXPECT_LE(model.trials, 6u);
  Model pairs;
  for (int64_t n = 1; n < 1000; n += 2)
    pairs.turns.push_back(n);
  EXPECT_FALSE(pairs.cut({SizeRange{"N", 1, 1000}}, 16));
  EXPECT_LE(pairs.trials, 6u);
  Model few{{1, 2, 3, 4, 5, 6}};
  EXPECT_TRUE(few.cut({SizeRange{"N", 1, 6}}, 16));
  EXPECT_EQ(few.working.size(), 6u);
}

TEST(SizePiecesTest, APartThatFailsEndsIt) {
  unsigned trials = 0;
  EXPECT_FALSE(cutIntoPieces(
      {SizeRange{"N", 1, 8}}, {SizeTrial::Differs, SizeCut{0, 3}}, 16,
      [&](const Ranges &part) -> SizeTrial {
        ++trials;
        return {part[0].minimum == 3 ? SizeTrial::Works : SizeTrial::Fails};
      }));
  EXPECT_EQ(trials, 2u);
}

TEST(SizePiecesTest, WhatIsNoCutEndsIt) {
  for (int64_t first : {1, 9}) {
    EXPECT_FALSE(cutIntoPieces(
        {SizeRange{"N", 1, 8}}, {SizeTrial::Differs, SizeCut{0, first}}, 16,
        [](const Ranges &) -> SizeTrial { return {SizeTrial::Works}; }));
  }
}

TEST(SizePiecesTest, ZeroIsAPartOfItsOwn) {
  auto cut = cutAtZero({SizeRange{"N", 1, 8}, SizeRange{"P", 0, 64, 32}});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->symbol, 1u);
  EXPECT_EQ(cut->first, 32);
  EXPECT_FALSE(cutAtZero({SizeRange{"N", 1, 8}, SizeRange{"P", 0, 0}}));
}

TEST(SizePiecesTest, RangesAreSpelledAsTheyAreTyped) {
  EXPECT_EQ(spellRanges({SizeRange{"N", 2, 8}, SizeRange{"W", 32, 64, 32},
                         SizeRange{"T", 1, 1}}),
            "N=2..8,W=32..64:32,T=1");
  EXPECT_EQ(countSizes({SizeRange{"N", 2, 8}, SizeRange{"W", 32, 64, 32}}, 100),
            14);
  EXPECT_EQ(countSizes({SizeRange{"N", 1, int64_t(1) << 40},
                        SizeRange{"W", 1, int64_t(1) << 40}},
                       100),
            100);
}
} // namespace

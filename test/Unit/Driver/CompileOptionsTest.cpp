// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/CompileOptions.h"
#include <gtest/gtest.h>

using namespace ashlar;

namespace {
using Shape = std::vector<int64_t>;

TEST(ParseShape, TakesNameAndSizes) {
  std::string name;
  Shape shape;
  ASSERT_TRUE(parseShape("x=1x3x224", name, shape));
  EXPECT_EQ(name, "x");
  EXPECT_EQ(shape, (Shape{1, 3, 224}));
}

TEST(ParseShape, NameMayHoldEqualsAndCross) {
  std::string name;
  Shape shape;
  ASSERT_TRUE(parseShape("a=b x c=2", name, shape));
  EXPECT_EQ(name, "a=b x c");
  EXPECT_EQ(shape, Shape{2});
}

TEST(ParseShape, NothingAfterEqualsIsAScalar) {
  std::string name;
  Shape shape = {7};
  ASSERT_TRUE(parseShape("x=", name, shape));
  EXPECT_EQ(shape, Shape{});
}

TEST(ParseShape, ZeroIsASize) {
  std::string name;
  Shape shape;
  ASSERT_TRUE(parseShape("x=0x2", name, shape));
  EXPECT_EQ(shape, (Shape{0, 2}));
}

TEST(ParseShape, RefusesOtherFormsAndLeavesResultsAlone) {
  for (const char *text :
       {"", "x", "=1x2", "x=1x", "x=x1", "x=1xx2", "x=-1", "x=1,2", "x=1x2 ",
        "x= 1", "x=1.5", "x=0x10y", "x=99999999999999999999", "x=Nx2"}) {
    std::string name = "before";
    Shape shape = {42};
    EXPECT_FALSE(parseShape(text, name, shape)) << text;
    EXPECT_EQ(name, "before") << text;
    EXPECT_EQ(shape, Shape{42}) << text;
  }
}

std::vector<SizeRange> rangesOf(const std::string &text) {
  std::vector<SizeRange> sizes;
  std::string why;
  EXPECT_TRUE(parseSizeRanges(text, sizes, why)) << why;
  return sizes;
}

TEST(ParseSymbolicShape, ReadsNamesProductsAndSums) {
  using Dims = std::vector<std::string>;
  struct {
    const char *ranges, *text;
    Dims dims;
  } cases[] = {
      {"N=1..8,W=8..64", "a=Nx3x48xW", {"N", "3", "48", "W"}},
      {"N=1..8", "a=b=N", {"N"}},
      {"max_len=1..8", "a=1xmax_lenx3", {"1", "max_len", "3"}},
      {"max_len=1..8", "a=max_len", {"max_len"}},
      {"x=1..8", "a=3xxx4", {"3", "x", "4"}},
      {"h=1..8,P=1..4", "a=8*hxP+h", {"8*h", "P+h"}},
      {"h=1..8", "a=2, 8 * h + 1", {"2", "8*h+1"}},
      {"h=1..8", "a=2*4xh", {"8", "h"}},
      {"N=1..4,Nx3=1..8", "a=N,3,Nx3", {"N", "3", "Nx3"}},
  };
  for (auto &[ranges, text, dims] : cases) {
    std::string name, why;
    Dims shape;
    EXPECT_TRUE(parseSymbolicShape(text, rangesOf(ranges), name, shape, why))
        << text << why;
    EXPECT_EQ(shape, dims) << text;
  }
}

TEST(ParseSymbolicShape, RefusesOtherFormsAndLeavesResultsAlone) {
  std::vector<SizeRange> sizes = rangesOf("N=1..4,Nx3=1..8");
  for (const char *text : {"", "a", "=Nx2", "a=Nx", "a=xN", "a=N,", "a=Mx2",
                           "a=-N", "a=N*", "a=*N", "a=N+", "a=(N)", "a=Nx3",
                           "a=Nx1.5", "a=99999999999999999999xN"}) {
    std::string name = "before", why;
    std::vector<std::string> shape = {"42"};
    EXPECT_FALSE(parseSymbolicShape(text, sizes, name, shape, why)) << text;
    EXPECT_FALSE(why.empty()) << text;
    EXPECT_EQ(name, "before") << text;
    EXPECT_EQ(shape.size(), 1u) << text;
  }
}

TEST(SizeOfDim, AddsProductsAndStaysWithinBounds) {
  std::vector<SizeRange> sizes = rangesOf("P=1..8,T=1..8");
  EXPECT_EQ(sizeOfDim("P+2*T+1", sizes, {3, 5}), 14);
  EXPECT_EQ(sizeOfDim("7", sizes, {3, 5}), 7);
  int64_t huge = int64_t(1) << 40;
  EXPECT_GT(sizeOfDim("P*T*P*T", sizes, {huge, huge}), huge);
}

TEST(ParseTargets, SplitsTargetsAndPresets) {
  std::vector<TargetRequest> targets;
  ASSERT_TRUE(parseTargets("cpu:x86-64-v3,reference", targets));
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].target, "cpu");
  EXPECT_EQ(targets[0].preset, "x86-64-v3");
  EXPECT_EQ(targets[1].target, "reference");
  EXPECT_EQ(targets[1].preset, "");
}

TEST(ParseTargets, ReadsTheDevicesOfOneProgram) {
  std::vector<TargetRequest> targets;
  ASSERT_TRUE(parseTargets("systolic:tpu-128+cpu:host,reference", targets));
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].target, "systolic");
  EXPECT_EQ(targets[0].preset, "tpu-128");
  ASSERT_EQ(targets[0].companions.size(), 1u);
  EXPECT_EQ(targets[0].companions[0].target, "cpu");
  EXPECT_EQ(targets[0].companions[0].preset, "host");
  EXPECT_TRUE(targets[1].companions.empty());
  for (const char *text : {"+", "cpu+", "+cpu", "cpu++systolic", "cpu,+"})
    EXPECT_FALSE(parseTargets(text, targets)) << text;
}

TEST(ParseTargets, RefusesEmptyNames) {
  for (const char *text : {"", ",", "cpu,", ",cpu", ":host", "cpu,,cpu"}) {
    std::vector<TargetRequest> targets = {{"before", ""}};
    EXPECT_FALSE(parseTargets(text, targets)) << text;
    ASSERT_EQ(targets.size(), 1u) << text;
    EXPECT_EQ(targets[0].target, "before") << text;
  }
}

TEST(ParseStage, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(Stage::Emit); ++i) {
    Stage stage = Stage::Import;
    ASSERT_TRUE(parseStage(stageName(static_cast<Stage>(i)), stage));
    EXPECT_EQ(static_cast<int>(stage), i);
  }
  Stage stage = Stage::Fuse;
  EXPECT_FALSE(parseStage("", stage));
  EXPECT_FALSE(parseStage("Import", stage));
  EXPECT_EQ(stage, Stage::Fuse);
}
} // namespace

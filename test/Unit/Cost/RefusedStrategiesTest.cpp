// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/RefusedStrategies.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace ashlar;

namespace {
class RefusedStrategiesTest : public ::testing::Test {
protected:
  Location node(StringRef name) {
    return NameLoc::get(StringAttr::get(&context, name));
  }
  Location kernel(ArrayRef<Location> nodes) {
    return FusedLoc::get(&context, nodes);
  }
  MLIRContext context;
  RefusedStrategies strategies;
};

// A kernel's strategies are those of its nodes, by their names: ops of another
// try have other locations.
TEST_F(RefusedStrategiesTest, OfAKernelsNodes) {
  strategies.note(node("product"), "large");
  strategies.note(node("other"), "large");
  EXPECT_TRUE(strategies.refuse(kernel({node("product"), node("relu")})));
  EXPECT_TRUE(strategies.contains(node("product"), "large"));
  EXPECT_FALSE(strategies.contains(node("product"), "small"));
  EXPECT_FALSE(strategies.contains(node("other"), "large"));
  EXPECT_FALSE(strategies.contains(node("relu"), "large"));
}

// What is of several nodes is not a kernel's that has some of them alone.
TEST_F(RefusedStrategiesTest, AllNodesOfAnOp) {
  strategies.note(kernel({node("scores"), node("values")}), "large");
  EXPECT_FALSE(strategies.refuse(node("scores")));
  EXPECT_TRUE(strategies.refuse(
      kernel({node("values"), node("softmax"), node("scores")})));
}

// A second time there is nothing new, so that nobody tries for ever; what was
// taken in between is.
TEST_F(RefusedStrategiesTest, OnceEach) {
  EXPECT_FALSE(strategies.refuse(node("product")));
  strategies.note(node("product"), "large");
  EXPECT_TRUE(strategies.refuse(node("product")));
  EXPECT_FALSE(strategies.refuse(node("product")));
  strategies.note(node("product"), "small");
  EXPECT_TRUE(strategies.refuse(node("product")));
}

// Another way to lie with as many sums of a thread needs no fewer registers, if
// sums are most of these; else its text alone counts.
TEST_F(RefusedStrategiesTest, AsManySums) {
  strategies.note(node("product"), "wide", 128);
  strategies.note(node("attention"), "64 keys");
  EXPECT_TRUE(strategies.refuse(kernel({node("product"), node("attention")})));
  EXPECT_TRUE(strategies.contains(node("product"), "high", 128));
  EXPECT_FALSE(strategies.contains(node("product"), "small", 64));
  strategies.note(node("other"), "few", 8);
  EXPECT_TRUE(strategies.refuse(node("other")));
  EXPECT_FALSE(strategies.contains(node("other"), "as few", 8));
  EXPECT_FALSE(strategies.contains(node("product"), "without a fragment"));
  EXPECT_FALSE(strategies.contains(node("attention"), "32 keys"));
  EXPECT_FALSE(strategies.contains(node("attention"), "other", 128));
}

// Ops of the same form share a kernel, which has the nodes of one of them.
TEST_F(RefusedStrategiesTest, EqualForms) {
  int product = 0, other = 0;
  strategies.note(node("first layer"), "large", 8, {&product});
  strategies.note(node("second layer"), "large", 8, {&product});
  EXPECT_TRUE(strategies.refuse(node("first layer")));
  EXPECT_TRUE(
      strategies.contains(node("second layer"), "large", 8, {&product}));
  EXPECT_FALSE(
      strategies.contains(node("second layer"), "small", 4, {&product}));
  EXPECT_FALSE(strategies.contains(node("second layer"), "large", 8, {&other}));
}

// An op without a node is not each kernel's.
TEST_F(RefusedStrategiesTest, WithoutANode) {
  strategies.note(UnknownLoc::get(&context), "large");
  EXPECT_FALSE(strategies.refuse(node("product")));
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/KnownLevels.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace ashlar;

namespace {
class KnownLevelsTest : public ::testing::Test {
protected:
  KnownLevelsTest() {
    context.loadDialect<func::FuncDialect, tile::TileDialect>();
  }
  /// A product of so many rows, in a function of its own.
  tile::ContractOp product(int rows, StringRef type = "f32") {
    std::string a = std::to_string(rows) + "x64x" + type.str(),
                y = std::to_string(rows) + "x32xf32",
                text = "func.func @f(%a: tensor<" + a +
                       ">, %b: tensor<64x32xf32>, %d: tensor<" + y +
                       ">) -> tensor<" + y +
                       "> { %0 = tile.contract a(%a : tensor<" + a +
                       ">) b(%b : tensor<64x32xf32>) outs(%d : tensor<" + y +
                       ">) attributes {parallel = array<i64: " +
                       std::to_string(rows) +
                       ", 32>, reduced = array<i64: 64>, maps = ["
                       "affine_map<(m, n, k) -> (m, k)>, "
                       "affine_map<(m, n, k) -> (k, n)>, "
                       "affine_map<(m, n) -> (m, n)>]} {\n"
                       "^bb0(%s: f32): tile.yield %s : f32 } -> tensor<" +
                       y + "> return %0 : tensor<" + y + "> }";
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    tile::ContractOp found;
    if (modules.back())
      modules.back()->walk([&](tile::ContractOp op) { found = op; });
    return found;
  }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
  KnownLevels known;
};

// Another op of the same sizes and types has the same levels; one of others has
// not, nor has one whose sizes a caller may choose.
TEST_F(KnownLevelsTest, EqualContractions) {
  LevelChoice choice;
  choice.prediction.compute = 7;
  known.add(product(128), /*openSizes=*/false, choice);
  auto same = known.find(product(128), false);
  ASSERT_TRUE(same && *same);
  EXPECT_EQ((*same)->prediction.compute, 7);
  EXPECT_FALSE(known.find(product(64), false));
  EXPECT_FALSE(known.find(product(128, "f16"), false));
  EXPECT_FALSE(known.find(product(128), true));
}

// That no unit takes one is known, too.
TEST_F(KnownLevelsTest, Nothing) {
  known.add(product(128), /*openSizes=*/false, std::nullopt);
  auto same = known.find(product(128), false);
  ASSERT_TRUE(same);
  EXPECT_FALSE(*same);
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/ContractDims.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace ashlar;
using namespace mlir;

namespace {
using Dims = SmallVector<unsigned>;

/// One dim of each kind, a reduced one of size 1, and one that the epilogue's
/// operand alone depends on.
const char contraction[] = R"mlir(
  func.func @f(%a: tensor<2x3x6xf32>, %b: tensor<2x6x5xf32>,
               %e: tensor<4xf32>, %d: tensor<2x3x4x5xf32>)
      -> tensor<2x3x4x5xf32> {
    %y = tile.contract a(%a : tensor<2x3x6xf32>) b(%b : tensor<2x6x5xf32>)
        epilogue(%e : tensor<4xf32>) outs(%d : tensor<2x3x4x5xf32>)
        attributes {
          parallel = array<i64: 2, 3, 4, 5>, reduced = array<i64: 1, 6>,
          maps = [affine_map<(g, m, r, n, t, k) -> (g, m + t, k)>,
                  affine_map<(g, m, r, n, t, k) -> (g, k, n)>,
                  affine_map<(g, m, r, n) -> (r)>,
                  affine_map<(g, m, r, n) -> (g, m, r, n)>]} {
      ^bb0(%sum: f32, %x: f32):
        %z = arith.addf %sum, %x : f32
        tile.yield %z : f32
      } -> tensor<2x3x4x5xf32>
    return %y : tensor<2x3x4x5xf32>
  })mlir";

TEST(ContractDims, EachDimIsInTheListOfWhoDependsOnIt) {
  MLIRContext context;
  context
      .loadDialect<arith::ArithDialect, func::FuncDialect, tile::TileDialect>();
  auto module = parseSourceString<ModuleOp>(contraction, &context);
  ASSERT_TRUE(bool(module));
  module->walk([](tile::ContractOp op) {
    ContractDims dims = dimsOf(op);
    EXPECT_EQ(dims.sizes, (SmallVector<int64_t>{2, 3, 4, 5, 1, 6}));
    EXPECT_EQ(dims.batch, Dims{0});
    EXPECT_EQ(dims.m, Dims{1});
    EXPECT_EQ(dims.rest, Dims{2});
    EXPECT_EQ(dims.n, Dims{3});
    EXPECT_EQ(dims.k, (Dims{4, 5}));
    EXPECT_EQ(dims.count(dims.k), 6);
    EXPECT_EQ(dims.count({}), 1);
    EXPECT_EQ(dims.multiplyAdds(), 2 * 3 * 4 * 5 * 6);
  });
}
} // namespace

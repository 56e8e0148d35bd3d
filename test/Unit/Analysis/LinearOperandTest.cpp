// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/LinearOperand.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace ashlar;
using namespace mlir;

namespace {
using Numbers = SmallVector<int64_t>;

/// Reads what the one function of a module returns.
class LinearOperandTest : public testing::Test {
protected:
  LinearOperandTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        memref::MemRefDialect>();
  }

  /// Why not; "" where it was read.
  std::string read(const std::string &body, StringRef map,
                   ArrayRef<int64_t> sizes) {
    module = parseSourceString<ModuleOp>("func.func @f" + body, &context);
    EXPECT_TRUE(bool(module));
    auto attribute =
        parseAttribute(("affine_map<" + map + ">").str(), &context);
    function = *module->getOps<func::FuncOp>().begin();
    Value value = function.front().getTerminator()->getOperand(0);
    return readLinearOperand(value, cast<AffineMapAttr>(attribute).getValue(),
                             sizes, "a", operand)
        .value_or("");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  LinearOperand operand;
};

// A window of step 2 along 5 x 9 elements: w and s move the same index.
TEST_F(LinearOperandTest, TensorsLieRowByRow) {
  EXPECT_EQ(read("(%x: tensor<5x9xf32>) -> tensor<5x9xf32> {"
                 "  return %x : tensor<5x9xf32> }",
                 "(h, w, s) -> (h + 1, w * 2 + s + 1)", {4, 3, 3}),
            "");
  EXPECT_EQ(operand.strides, (Numbers{9, 2, 1}));
  EXPECT_EQ(operand.offset, 10);
  EXPECT_EQ(operand.whole, function.getArgument(0));
  ASSERT_EQ(operand.indices.size(), 2u);
  EXPECT_EQ(operand.indices[1].factors, (Numbers{0, 2, 1}));
  EXPECT_EQ(operand.indices[1].stride, 1);
  EXPECT_EQ(operand.indices[1].constant, 1);
}

TEST_F(LinearOperandTest, MapsOfFewerDimsLeaveTheOthersAtZero) {
  EXPECT_EQ(read("(%x: tensor<7xf32>) -> tensor<7xf32> {"
                 "  return %x : tensor<7xf32> }",
                 "(m, n) -> (n)", {4, 7, 3}),
            "");
  EXPECT_EQ(operand.strides, (Numbers{0, 1, 0}));
}

// Bytes 8 and on are elements 2 and on of f32.
TEST_F(LinearOperandTest, PartsOfMemoryBeginWhereTheirViewsSay) {
  EXPECT_EQ(read("(%x: memref<64xi8>) -> memref<2x3xf32> {"
                 "  %c8 = arith.constant 8 : index"
                 "  %v = memref.view %x[%c8][]"
                 "      : memref<64xi8> to memref<2x3xf32>"
                 "  return %v : memref<2x3xf32> }",
                 "(m, n) -> (m, n)", {2, 3}),
            "");
  EXPECT_EQ(operand.offset, 2);
  EXPECT_EQ(operand.whole, function.getArgument(0));
  EXPECT_EQ(read("(%x: memref<6x8xf32>) -> "
                 "memref<2x3xf32, strided<[8, 1], offset: 17>> {"
                 "  %v = memref.subview %x[2, 1] [2, 3] [1, 1]"
                 "      : memref<6x8xf32> to "
                 "memref<2x3xf32, strided<[8, 1], offset: 17>>"
                 "  return %v : memref<2x3xf32, strided<[8, 1], offset: 17>> }",
                 "(m, n) -> (m, n)", {2, 3}),
            "");
  EXPECT_EQ(operand.strides, (Numbers{8, 1}));
  EXPECT_EQ(operand.offset, 17);
}

TEST_F(LinearOperandTest, SaysWhyNot) {
  EXPECT_EQ(read("(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {"
                 "  return %x : tensor<?x3xf32> }",
                 "(m, n) -> (m, n)", {2, 3}),
            "a has sizes that are not known");
  EXPECT_EQ(read("(%x: memref<2x3xf32, strided<[?, 1]>>)"
                 "    -> memref<2x3xf32, strided<[?, 1]>> {"
                 "  return %x : memref<2x3xf32, strided<[?, 1]>> }",
                 "(m, n) -> (m, n)", {2, 3}),
            "a has a layout that is not known");
  EXPECT_EQ(read("(%x: memref<64xi8>) -> memref<3xf32> {"
                 "  %c6 = arith.constant 6 : index"
                 "  %v = memref.view %x[%c6][] : memref<64xi8> to memref<3xf32>"
                 "  return %v : memref<3xf32> }",
                 "(m) -> (m)", {3}),
            "a begins between two of its elements");
  std::string matrix = "(%x: tensor<2x32xf32>) -> tensor<2x32xf32> {"
                       "  return %x : tensor<2x32xf32> }";
  EXPECT_EQ(read(matrix, "(n) -> (n floordiv 32, n mod 32)", {64}),
            "a's elements lie in panels");
  EXPECT_EQ(read(matrix, "(m, n) -> (m, n + 1)", {2, 32}),
            "a is read beyond its 32 elements");
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/EvaluateConstant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace ashlar;
using namespace mlir;

namespace {
/// Evaluates what the one function of a module returns.
class EvaluateConstant : public testing::Test {
protected:
  EvaluateConstant() {
    context.loadDialect<affine::AffineDialect, arith::ArithDialect,
                        func::FuncDialect, linalg::LinalgDialect,
                        tensor::TensorDialect>();
  }

  DenseElementsAttr evaluate(const std::string &body,
                             int64_t maximumElements = 16384) {
    module = parseSourceString<ModuleOp>("func.func @f" + body, &context);
    EXPECT_TRUE(bool(module));
    auto function = *module->getOps<func::FuncOp>().begin();
    Value result = function.front().getTerminator()->getOperand(0);
    return ConstantEvaluator(maximumElements).evaluate(result);
  }

  std::string spell(DenseElementsAttr attribute) {
    if (!attribute)
      return "unknown";
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(EvaluateConstant, RunsGenericsElementByElement) {
  EXPECT_EQ(spell(evaluate(R"mlir(() -> tensor<3xi64> {
    %a = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
    %b = arith.constant dense<10> : tensor<1xi64>
    %e = tensor.empty() : tensor<3xi64>
    %r = linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>,
                         affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]}
        ins(%a, %b : tensor<3xi64>, tensor<1xi64>) outs(%e : tensor<3xi64>) {
      ^bb0(%x: i64, %y: i64, %z: i64):
        %s = arith.addi %x, %y : i64
        linalg.yield %s : i64
    } -> tensor<3xi64>
    return %r : tensor<3xi64>
  })mlir")),
            "dense<[11, 12, 13]> : tensor<3xi64>");
}

TEST_F(EvaluateConstant, ReducesIntoTheInitialValue) {
  EXPECT_EQ(spell(evaluate(R"mlir(() -> tensor<i64> {
    %a = arith.constant dense<[2, 3, 7]> : tensor<3xi64>
    %one = arith.constant 1 : i64
    %e = tensor.empty() : tensor<i64>
    %i = linalg.fill ins(%one : i64) outs(%e : tensor<i64>) -> tensor<i64>
    %r = linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
        iterator_types = ["reduction"]}
        ins(%a : tensor<3xi64>) outs(%i : tensor<i64>) {
      ^bb0(%x: i64, %acc: i64):
        %s = arith.muli %x, %acc : i64
        linalg.yield %s : i64
    } -> tensor<i64>
    return %r : tensor<i64>
  })mlir")),
            "dense<42> : tensor<i64>");
}

TEST_F(EvaluateConstant, KnowsNothingOfInputs) {
  EXPECT_EQ(spell(evaluate(R"mlir((%a: tensor<2x1xi64>) -> tensor<2xi64> {
    %r = tensor.collapse_shape %a [[0, 1]] : tensor<2x1xi64> into tensor<2xi64>
    return %r : tensor<2xi64>
  })mlir")),
            "unknown");
}

TEST_F(EvaluateConstant, SlicesConcatenatesAndPads) {
  EXPECT_EQ(spell(evaluate(R"mlir(() -> tensor<5xi64> {
    %a = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
    %b = arith.constant dense<[9]> : tensor<1xi64>
    %c = arith.constant 7 : i64
    %s = tensor.extract_slice %a[1] [3] [2] : tensor<6xi64> to tensor<3xi64>
    %j = tensor.concat dim(0) %s, %b : (tensor<3xi64>, tensor<1xi64>) -> tensor<4xi64>
    %p = tensor.pad %j low[1] high[0] {
      ^bb0(%i: index):
        tensor.yield %c : i64
    } : tensor<4xi64> to tensor<5xi64>
    return %p : tensor<5xi64>
  })mlir")),
            "dense<[7, 1, 3, 5, 9]> : tensor<5xi64>");
}

TEST_F(EvaluateConstant, ReadsWhatABodyCaptures) {
  std::string gather = R"mlir((%unused: tensor<1xi64>) -> tensor<3xi64> {
    %t = arith.constant dense<[10, 20, 30]> : tensor<3xi64>
    %i = arith.constant dense<[2, INDEX, 1]> : tensor<3xi64>
    %e = tensor.empty() : tensor<3xi64>
    %r = linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]}
        ins(%i : tensor<3xi64>) outs(%e : tensor<3xi64>) {
      ^bb0(%x: i64, %z: i64):
        %n = arith.index_cast %x : i64 to index
        %v = tensor.extract %t[%n] : tensor<3xi64>
        linalg.yield %v : i64
    } -> tensor<3xi64>
    return %r : tensor<3xi64>
  })mlir";
  auto with = [&](const char *index) {
    std::string text = gather;
    return text.replace(text.find("INDEX"), 5, index);
  };
  EXPECT_EQ(spell(evaluate(with("0"))), "dense<[30, 10, 20]> : tensor<3xi64>");
  // Outside the table there is nothing to know.
  EXPECT_EQ(spell(evaluate(with("3"))), "unknown");
  EXPECT_EQ(spell(evaluate(with("-1"))), "unknown");
}

TEST_F(EvaluateConstant, TakesTensorsWithoutElements) {
  EXPECT_EQ(spell(evaluate(R"mlir(() -> tensor<2xi64> {
    %a = arith.constant dense<> : tensor<0xi64>
    %b = arith.constant dense<[1, 2]> : tensor<2xi64>
    %j = tensor.concat dim(0) %a, %b : (tensor<0xi64>, tensor<2xi64>) -> tensor<2xi64>
    return %j : tensor<2xi64>
  })mlir")),
            "dense<[1, 2]> : tensor<2xi64>");
}

TEST_F(EvaluateConstant, LeavesLargeTensorsAlone) {
  std::string body = R"mlir(() -> tensor<2x2xi64> {
    %a = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
    %r = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xi64> into tensor<2x2xi64>
    return %r : tensor<2x2xi64>
  })mlir";
  EXPECT_EQ(spell(evaluate(body, 3)), "unknown");
  EXPECT_EQ(spell(evaluate(body, 4)),
            "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>");
}

/// Chains are evaluated without recursion.
TEST_F(EvaluateConstant, FollowsLongChains) {
  std::string body = "() -> tensor<2x1xi64> {\n"
                     "%v0 = arith.constant dense<[1, 2]> : tensor<2xi64>\n"
                     "%w0 = tensor.expand_shape %v0 [[0, 1]] output_shape "
                     "[2, 1] : tensor<2xi64> into tensor<2x1xi64>\n";
  for (int i = 1; i != 20000; ++i) {
    std::string now = std::to_string(i), before = std::to_string(i - 1);
    body += "%v" + now + " = tensor.collapse_shape %w" + before +
            " [[0, 1]] : tensor<2x1xi64> into tensor<2xi64>\n%w" + now +
            " = tensor.expand_shape %v" + now +
            " [[0, 1]] output_shape [2, 1] : tensor<2xi64> into "
            "tensor<2x1xi64>\n";
  }
  body += "return %w19999 : tensor<2x1xi64>\n}";
  EXPECT_EQ(spell(evaluate(body)), "dense<[[1], [2]]> : tensor<2x1xi64>");
}

TEST_F(EvaluateConstant, GivesUpWhereAnOpDoes) {
  EXPECT_EQ(spell(evaluate(R"mlir(() -> tensor<1xi64> {
    %a = arith.constant dense<[4]> : tensor<1xi64>
    %b = arith.constant dense<[0]> : tensor<1xi64>
    %e = tensor.empty() : tensor<1xi64>
    %r = linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
                         affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]}
        ins(%a, %b : tensor<1xi64>, tensor<1xi64>) outs(%e : tensor<1xi64>) {
      ^bb0(%x: i64, %y: i64, %z: i64):
        %s = arith.divsi %x, %y : i64
        linalg.yield %s : i64
    } -> tensor<1xi64>
    return %r : tensor<1xi64>
  })mlir")),
            "unknown");
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions as streams, run by the simulator, beside plain loops. The
// simulator refuses hazards and reads of what was never written, so that it is
// also what finds a missing sync.
#include "LowerKernel.h"
#include "Machines.h"
#include "PackColumns.h"
#include "SystolicContracts.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic::test;

namespace {
class SystolicContract : public testing::Test {
protected:
  void expectRight(const Contract &contract, const char *preset,
                   int64_t beside = 0,
                   const systolic::SearchOptions &options = {}) {
    SCOPED_TRACE(std::string(preset) + ": " + contract.text());
    systolic::Machine machine =
        systolic::streamMachine(systolic::machineFor(preset));
    Compiled compiled = compile(contract, machine, beside, options);
    ASSERT_EQ(compiled.error, "");
    std::string wrong = runAndCompare(contract, machine, compiled, ++seed);
    EXPECT_EQ(wrong, "");
  }
  void expectRightEverywhere(const Contract &contract) {
    bool isBF16 = contract.input == "bf16";
    for (const char *preset : {"tpu-128", "tpu-v5e"})
      if (isBF16)
        expectRight(contract, preset);
    bool isNarrow = contract.result.type != "i32";
    for (const char *preset : {"tpu-256", "gemmini", "gemmini-ws"})
      if (!isBF16 && (isNarrow || std::string(preset) != "gemmini-ws"))
        expectRight(contract, preset);
  }
  /// With a proof that sums fit in Gemmini's array, and inputs that keep them
  /// there.
  static Contract fitting(Contract contract) {
    contract.sumBits = 20;
    if (contract.input == "i8")
      contract.a.scale = 1.0 / 16;
    return contract;
  }
  /// Results go by rows or by columns, and either factor lies transposed.
  void expectRightBy(systolic::Dataflow dataflow, const char *preset,
                     const char *type) {
    const systolic::SearchOptions options{dataflow};
    const int64_t sizes[][3] = {{1, 1, 1},      {3, 5, 7},     {129, 127, 130},
                                {16, 300, 17},  {49, 160, 96}, {1, 400, 77},
                                {70, 33, 1025}, {513, 200, 96}};
    for (auto [m, n, k] : sizes)
      for (bool isTransposed : {false, true}) {
        Contract one = fitting(product(type, m, n, k, isTransposed));
        // Gemmini's transfers begin with a row's first column: it turns nothing
        // around on its way.
        if (std::string(preset) == "gemmini") {
          if (!isTransposed)
            expectRight(one, preset, 0, options);
          continue;
        }
        expectRight(one, preset, 0, options);
        one.result.map = "n, m";
        one.result.shape = {n, m};
        expectRight(one, preset, 0, options);
        one.a = {"k, m", {k, m}, type};
        expectRight(one, preset, 0, options);
      }
    if (std::string(preset) != "gemmini")
      expectRight(batched(type, 4, 70, 150, 64, true), preset, 0, options);
    expectRight(fitting(batched(type, 3, 20, 30, 40, false)), preset, 0,
                options);
    Convolution c;
    expectRight(fitting(convolution(type, c)), preset, 0, options);
    c = {2, 14, 11, 130, 140, 3, 3, 1, 2};
    expectRight(fitting(convolution(type, c)), preset, 0, options);
    c = {1, 30, 30, 40, 33, 1, 1, 2, 1};
    expectRight(fitting(convolution(type, c)), preset, 0, options);
  }
  uint64_t seed = 0;
};

TEST_F(SystolicContract, OutputStationary) {
  const auto dataflow = systolic::Dataflow::OutputStationary;
  expectRightBy(dataflow, "tpu-128", "bf16");
  expectRightBy(dataflow, "tpu-v5e", "bf16");
  expectRightBy(dataflow, "tpu-256", "i8");
  expectRightBy(dataflow, "gemmini", "i8");
  const systolic::SearchOptions options{dataflow};
  expectRight(withBias(product("bf16", 150, 200, 96, false)), "tpu-v5e", 0,
              options);
  expectRight(fitting(withBias(product("i8", 70, 90, 50, false))), "gemmini", 0,
              options);
  // Sums of several tiles.
  expectRight(product("bf16", 40, 130, 25088, false), "tpu-128", 0, options);
  expectRight(fitting(product("i8", 150, 70, 5000, false)), "gemmini", 0,
              options);
  // Two results in one row.
  Convolution c = {1, 20, 18, 64, 64, 3, 3, 1, 1, 1};
  expectRight(withBias(convolution("bf16", c)), "tpu-128", 2, options);
}

// Only where they are known to fit in the array.
TEST_F(SystolicContract, OutputStationaryWithoutRoomForSums) {
  using systolic::Dataflow;
  const systolic::SearchOptions options{Dataflow::OutputStationary};
  auto errorOf = [&](Contract contract, const char *preset,
                     const systolic::SearchOptions &options) {
    systolic::Machine machine =
        systolic::streamMachine(systolic::machineFor(preset));
    Compiled compiled = compile(contract, machine, 0, options);
    for (const auto &alternatives : compiled.alternatives)
      for (const systolic::Alternative &one : alternatives)
        EXPECT_NE(one.dataflow, Dataflow::OutputStationary) << preset;
    return compiled.error;
  };
  Contract wide = product("i8", 96, 200, 300, false);
  EXPECT_EQ(errorOf(wide, "gemmini", options),
            "its sums are not known to fit in the array's 20 bits");
  EXPECT_EQ(errorOf(wide, "gemmini", {}), "");
  wide.sumBits = 21;
  EXPECT_EQ(errorOf(wide, "gemmini", {}), "");
  EXPECT_EQ(errorOf(wide, "gemmini-ws", {}),
            "its result is of i32, and the machine stores bytes alone");
}

TEST_F(SystolicContract, InputStationary) {
  const auto dataflow = systolic::Dataflow::InputStationary;
  expectRightBy(dataflow, "tpu-128", "bf16");
  expectRightBy(dataflow, "tpu-v5e", "bf16");
  expectRightBy(dataflow, "tpu-256", "i8");
  const systolic::SearchOptions options{dataflow};
  // A bias stands for columns then, and a column of a residual for rows.
  Contract base = product("bf16", 150, 200, 96, false);
  expectRight(withBias(base), "tpu-128", 0, options);
  for (Operand residual :
       {Operand{"m, n", {150, 200}, "f32"}, Operand{"m", {150}, "f32"}}) {
    expectRight(withBody(base, "    %f = arith.addf %0, %sum : f32\n",
                         [](double sum, const std::vector<double> &v) {
                           return v[0] + sum;
                         },
                         {residual}),
                "tpu-v5e", 0, options);
    expectRight(withBody(base, "    %f = arith.subf %sum, %0 : f32\n",
                         [](double sum, const std::vector<double> &v) {
                           return sum - v[0];
                         },
                         {residual}),
                "tpu-128", 0, options);
  }
}

TEST_F(SystolicContract, ProductsOfAnySize) {
  const int64_t sizes[][3] = {{1, 1, 1},       {3, 5, 7},      {128, 128, 128},
                              {129, 127, 130}, {16, 300, 17},  {200, 64, 384},
                              {1, 1000, 77},   {70, 33, 1025}, {513, 200, 96}};
  for (auto [m, n, k] : sizes)
    for (const char *type : {"bf16", "i8"})
      for (bool isTransposed : {false, true})
        expectRightEverywhere(product(type, m, n, k, isTransposed));
}

TEST_F(SystolicContract, BatchesOfProducts) {
  for (const char *type : {"bf16", "i8"}) {
    expectRightEverywhere(batched(type, 3, 20, 30, 40, false));
    expectRightEverywhere(batched(type, 4, 128, 64, 128, false));
    expectRightEverywhere(batched(type, 4, 128, 128, 64, true));
  }
}

TEST_F(SystolicContract, OperandsLargerThanTheScratchpad) {
  expectRight(product("bf16", 40, 130, 25088, false), "tpu-128");
  expectRight(product("bf16", 9000, 20, 150, false), "tpu-128");
  expectRight(product("i8", 150, 70, 5000, false), "gemmini");
  expectRight(product("i8", 1100, 50, 100, true), "gemmini");
}

TEST_F(SystolicContract, ConvolutionsInPlaceAndPacked) {
  for (const char *type : {"bf16", "i8"}) {
    Convolution c;
    expectRightEverywhere(convolution(type, c));
    c.channels = 3, c.filters = 20, c.filterHeight = c.filterWidth = 7;
    c.height = c.width = 29, c.stride = 2;
    expectRightEverywhere(convolution(type, c));
    c = {2, 14, 11, 130, 140, 3, 3, 1, 2};
    expectRightEverywhere(convolution(type, c));
    c = {1, 30, 30, 40, 33, 1, 1, 2, 1};
    expectRightEverywhere(convolution(type, c));
    c = {1, 31, 20, 64, 64, 3, 3, 1, 1, 2};
    expectRightEverywhere(convolution(type, c));
    c = {3, 9, 9, 17, 300, 2, 3, 2, 1, 1};
    expectRightEverywhere(convolution(type, c));
    c = {1, 58, 58, 64, 32, 3, 3, 1, 1, 1};
    expectRightEverywhere(convolution(type, c));
  }
}

// Two results in one row: both read the same rows of A.
TEST_F(SystolicContract, FewFiltersInPairs) {
  const Convolution sizes[] = {{1, 20, 18, 64, 64, 3, 3, 1, 1, 1},
                               {2, 29, 29, 3, 50, 7, 7, 2, 1, 0},
                               {1, 30, 24, 70, 20, 1, 5},
                               {1, 12, 14, 33, 7, 3, 3, 1, 1, 2}};
  for (const Convolution &c : sizes) {
    expectRight(convolution("bf16", c), "tpu-128", 2);
    expectRight(withBias(convolution("bf16", c)), "tpu-v5e", 2);
    expectRight(convolution("i8", c), "tpu-256", 2);
  }
}

// Several of them in a row, in more than one block of columns, and without taps
// a diagonal of B.
TEST_F(SystolicContract, SeveralResultsSideBySide) {
  expectRight(convolution("bf16", {1, 20, 20, 24, 20, 3, 3}), "tpu-128", 6);
  expectRight(convolution("i8", {1, 20, 20, 24, 48, 3, 3}), "tpu-256", 9);
  expectRight(withBias(convolution("bf16", {2, 15, 15, 24, 144, 1, 1})),
              "tpu-v5e", 5);
  expectRight(convolution("bf16", {1, 21, 29, 96, 24, 1, 1, 2}), "tpu-128", 3);
  expectRight(withBias(product("bf16", 300, 144, 30, false)), "tpu-128", 4);
  expectRight(batched("bf16", 3, 120, 40, 30, false), "tpu-v5e", 3);
  expectRight(product("bf16", 300, 4, 24, true), "tpu-128", 5);
  systolic::SearchOptions outputs{systolic::Dataflow::OutputStationary};
  expectRight(convolution("bf16", {1, 20, 20, 24, 20, 3, 3}), "tpu-128", 6,
              outputs);
}

TEST_F(SystolicContract, ALargeImageInParts) {
  Convolution c = {1, 130, 70, 64, 16, 3, 3};
  expectRight(convolution("bf16", c), "tpu-128");
  expectRight(convolution("bf16", c), "tpu-v5e");
  c = {2, 60, 60, 16, 16, 3, 3};
  expectRight(convolution("i8", c), "gemmini");
}

TEST_F(SystolicContract, DepthwiseOnTheVectorUnit) {
  for (const char *type : {"bf16", "i8"})
    for (Convolution c : {Convolution{1, 16, 16, 32, 0, 3, 3},
                          Convolution{2, 20, 15, 200, 0, 3, 3, 2, 1, 1},
                          Convolution{1, 40, 40, 300, 0, 5, 5, 1, 1}}) {
      expectRight(depthwise(type, c),
                  std::string(type) == "bf16" ? "tpu-128" : "tpu-256");
      if (std::string(type) == "bf16")
        expectRight(withBias(depthwise(type, c)), "tpu-128");
    }
}

// A row of results is the vector unit's, which takes more weights a cycle than
// an array does: sums in as many rows as it works on, for any number of terms.
TEST_F(SystolicContract, OneRowOnTheVectorUnit) {
  systolic::SearchOptions none{systolic::Dataflow::None};
  for (auto [n, k] : {std::pair<int64_t, int64_t>{1000, 1280},
                      {130, 1027},
                      {64, 5},
                      {2, 9},
                      {300, 1},
                      {100, 20000}}) {
    expectRight(product("bf16", 1, n, k, false), "tpu-128", 0, none);
    expectRight(withBias(product("bf16", 1, n, k, false)), "tpu-v5e", 0, none);
    expectRight(product("i8", 1, n, k, false), "tpu-256", 0, none);
  }
  expectRight(batched("bf16", 3, 1, 200, 300, false), "tpu-128", 0, none);
}

TEST_F(SystolicContract, DepthwiseResultsSideBySide) {
  // Images, height, width, channels, filters, filter's height and width,
  // stride, dilation, margin.
  for (Convolution c : {Convolution{1, 18, 18, 32, 0, 3, 3},
                        Convolution{1, 18, 18, 24, 0, 3, 3, 1, 1, 1},
                        Convolution{2, 17, 17, 144, 0, 3, 3, 2, 1, 1},
                        Convolution{1, 12, 20, 17, 0, 5, 5, 1, 1},
                        Convolution{1, 9, 8, 96, 0, 3, 1},
                        Convolution{1, 9, 10, 40, 0, 1, 3, 1},
                        Convolution{1, 140, 34, 300, 0, 3, 3, 1, 1, 1}})
    for (int64_t results : {2, 4, 8})
      expectRight(withBias(depthwise("bf16", c)), "tpu-128", results);
  expectRight(depthwise("i8", {1, 18, 18, 48, 0, 3, 3}), "tpu-256", 4);
  // A residual, whose channels follow each other in the same way.
  Contract sum = depthwise("bf16", {1, 10, 14, 72, 0, 3, 3});
  for (int64_t results : {2, 3, 12})
    expectRight(withBody(sum,
                         "    %x = arith.extf %0 : bf16 to f32\n"
                         "    %f = arith.addf %sum, %x : f32\n",
                         [](double sum, const std::vector<double> &v) {
                           return sum + v[0];
                         },
                         {{"n, h, w, o", {1, 8, 12, 72}, "bf16"}}),
                "tpu-128", results);
}

TEST_F(SystolicContract, Epilogues) {
  using Values = std::vector<double>;
  Contract base = product("bf16", 150, 200, 96, false);
  expectRightEverywhere(withBias(base));
  expectRightEverywhere(withBias(product("bf16", 1000, 200, 96, false)));
  expectRight(withBias(product("i8", 150, 600, 96, false)), "tpu-256");
  // A residual in each of its types, and one row of it for all.
  for (const char *type : {"bf16", "f32"})
    for (bool isWhole : {true, false}) {
      Operand residual = isWhole ? Operand{"m, n", {150, 200}, type}
                                 : Operand{"m", {150}, type};
      std::string wide = std::string(type) == "f32"
                             ? "    %w = arith.addf %0, %0 : f32\n"
                             : "    %x = arith.extf %0 : bf16 to f32\n"
                               "    %w = arith.addf %x, %x : f32\n";
      expectRightEverywhere(
          withBody(base, wide + "    %f = arith.subf %w, %sum : f32\n",
                   [](double sum, const Values &v) { return 2 * v[0] - sum; },
                   {residual}));
    }
  // Functions; sums are kept small.
  Contract small = base;
  small.a.scale = 0.1;
  small.ofTerms = 1e-4;
  auto function = [&](const char *body, double (*f)(double)) {
    expectRightEverywhere(withBody(
        small, body, [f](double sum, const Values &) { return f(sum); }));
  };
  function("    %f = math.tanh %sum : f32\n", std::tanh);
  function("    %f = math.erf %sum : f32\n", std::erf);
  function("    %f = math.exp %sum : f32\n", std::exp);
  function("    %one = arith.constant 1.0 : f32\n"
           "    %n = arith.negf %sum : f32\n"
           "    %e = math.exp %n : f32\n"
           "    %d = arith.addf %e, %one : f32\n"
           "    %s = arith.divf %one, %d : f32\n"
           "    %f = arith.mulf %sum, %s : f32\n",
           [](double x) { return x / (1 + std::exp(-x)); });
  function("    %half = arith.constant 0.5 : f32\n"
           "    %root = arith.constant 0.70710678 : f32\n"
           "    %one = arith.constant 1.0 : f32\n"
           "    %x = arith.mulf %sum, %root : f32\n"
           "    %e = math.erf %x : f32\n"
           "    %d = arith.addf %e, %one : f32\n"
           "    %h = arith.mulf %sum, %half : f32\n"
           "    %f = arith.mulf %h, %d : f32\n",
           [](double x) { return x / 2 * (1 + std::erf(x * std::sqrt(0.5))); });
  // Rounded on the way.
  expectRightEverywhere(
      withBody(base,
               "    %t = arith.truncf %sum : f32 to bf16\n"
               "    %w = arith.extf %t : bf16 to f32\n"
               "    %f = arith.addf %w, %w : f32\n",
               [](double sum, const Values &) { return 2 * sum; }));
}

// What Gemmini's transfers do with sums is exact.
TEST_F(SystolicContract, BytesAreScaledOnTheirWayOut) {
  auto scaled = [](Contract contract, bool hasBias, bool isRelu) {
    contract.result.type = "i8";
    std::string bias = hasBias ? "    %v = arith.addi %sum, %0 : i32\n"
                                 "    %i = arith.sitofp %v : i32 to f32\n"
                               : "    %i = arith.sitofp %sum : i32 to f32\n";
    std::string least = isRelu ? "0.0" : "-128.0";
    contract.body = bias +
                    "    %s = arith.constant 0.00390625 : f32\n"
                    "    %least = arith.constant " +
                    least +
                    " : f32\n"
                    "    %most = arith.constant 127.0 : f32\n"
                    "    %m = arith.mulf %i, %s : f32\n"
                    "    %r = math.roundeven %m : f32\n"
                    "    %l = arith.maximumf %r, %least : f32\n"
                    "    %u = arith.minimumf %l, %most : f32\n"
                    "    %z = arith.fptosi %u : f32 to i8\n";
    if (hasBias)
      contract.operands = {
          {contract.parallel.substr(contract.parallel.size() - 1),
           {contract.parallelSizes.back()},
           "i32",
           100}};
    contract.epilogue = [=](double sum, const std::vector<double> &v) {
      double rounded = std::nearbyint((sum + (hasBias ? v[0] : 0)) / 256);
      return std::min(127.0, std::max(isRelu ? 0.0 : -128.0, rounded));
    };
    return contract;
  };
  for (bool hasBias : {false, true})
    for (bool isRelu : {false, true}) {
      expectRightEverywhere(
          scaled(product("i8", 70, 90, 50, false), hasBias, isRelu));
      Convolution c = {1, 20, 20, 32, 40, 3, 3, 1, 1, 1};
      Contract contract = scaled(convolution("i8", c), hasBias, isRelu);
      contract.pad = ", pad = 0 : i8";
      expectRightEverywhere(contract);
    }
  expectRightEverywhere(withBias(product("i8", 70, 90, 50, false)));
}

// Without a vector unit, two operands meet in the accumulator. Exact, for
// columns and rows that fill no command, one of several halves of the
// accumulator, and an operand whose rows lie in another order.
TEST_F(SystolicContract, BytesAreAddedOnTheirWayIn) {
  auto sum = [](int64_t height, int64_t width, int64_t channels, bool isRelu,
                bool isMoved) {
    Contract contract;
    contract.input = "i8";
    contract.parallel = "h, w, c";
    contract.reduced = "t";
    contract.parallelSizes = {height, width, channels};
    contract.reducedSizes = {1};
    contract.a = {"h, w, c", {height, width, channels}, "i8"};
    contract.b = {"c", {channels}, "i8"};
    contract.b.value = 1;
    contract.hasOnes = true;
    contract.result = {"h, w, c", {height, width, channels}, "i8"};
    contract.operands = {
        isMoved ? Operand{"w, h, c", {width, height, channels}, "i8"}
                : Operand{"h, w, c", {height, width, channels}, "i8"}};
    contract.body = "    %x = arith.extsi %0 : i8 to i32\n"
                    "    %v = arith.addi %sum, %x : i32\n"
                    "    %i = arith.sitofp %v : i32 to f32\n"
                    "    %s = arith.constant 0.5 : f32\n"
                    "    %most = arith.constant 127.0 : f32\n"
                    "    %least = arith.constant " +
                    std::string(isRelu ? "0.0" : "-128.0") +
                    " : f32\n"
                    "    %m = arith.mulf %i, %s : f32\n"
                    "    %r = math.roundeven %m : f32\n"
                    "    %u = arith.minimumf %r, %most : f32\n"
                    "    %l = arith.maximumf %u, %least : f32\n"
                    "    %z = arith.fptosi %l : f32 to i8\n";
    contract.epilogue = [=](double all, const std::vector<double> &v) {
      double rounded = std::nearbyint((all + v[0]) / 2);
      return std::min(127.0, std::max(isRelu ? 0.0 : -128.0, rounded));
    };
    return contract;
  };
  const int64_t sizes[][3] = {{1, 1, 2},     {1, 1, 16},    {3, 5, 20},
                              {7, 7, 72},    {14, 14, 256}, {20, 37, 64},
                              {4, 300, 130}, {1, 1000, 33}};
  for (const char *preset : {"gemmini", "gemmini-ws"})
    for (auto [height, width, channels] : sizes)
      for (bool isMoved : {false, true})
        expectRight(sum(height, width, channels, isMoved, isMoved), preset);
}

/// A result that is stored as it is, too, lies beside its neighbours as the
/// rounded one does.
TEST(SystolicPacking, UnroundedResultsSideBySide) {
  systolic::Contraction contraction;
  contraction.sizes = {8, 72, 3};
  contraction.m = {0};
  contraction.n = {1};
  contraction.k = {2};
  contraction.isDepthwise = true;
  contraction.a.strides = {72, 1, 72};
  contraction.b.strides = {0, 1, 72};
  contraction.result.strides = {72, 1, 0};
  contraction.unrounded = contraction.result;
  contraction.unrounded->binding = 3;
  contraction.aCoordinates = {{72, 0, {1, 0, 1}}, {1, 0, {0, 1, 0}}};
  auto packed = systolic::packLanes(contraction, 2);
  ASSERT_TRUE(packed.has_value());
  EXPECT_EQ(packed->sizes, (SmallVector<int64_t>{4, 72, 3, 2}));
  EXPECT_EQ(packed->result.strides, (SmallVector<int64_t>{144, 1, 0, 72}));
  EXPECT_EQ(packed->unrounded->strides, packed->result.strides);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions as streams, run by the simulator, beside plain loops. The
// simulator refuses hazards and reads of what was never written, so that it is
// also what finds a missing sync.
#include "LowerKernel.h"
#include "Machines.h"
#include "SystolicContracts.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic::test;

namespace {
class SystolicContract : public testing::Test {
protected:
  void expectRight(const Contract &contract, const char *preset) {
    SCOPED_TRACE(std::string(preset) + ": " + contract.text());
    systolic::Machine machine =
        systolic::streamMachine(systolic::machineFor(preset));
    Compiled compiled = compile(contract, machine);
    ASSERT_EQ(compiled.error, "");
    std::string wrong = runAndCompare(contract, machine, compiled, ++seed);
    EXPECT_EQ(wrong, "");
  }
  void expectRightEverywhere(const Contract &contract) {
    bool isBF16 = contract.input == "bf16";
    for (const char *preset : {"tpu-128", "tpu-v5e"})
      if (isBF16)
        expectRight(contract, preset);
    for (const char *preset : {"tpu-256", "gemmini"})
      if (!isBF16)
        expectRight(contract, preset);
  }
  uint64_t seed = 0;
};

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

} // namespace

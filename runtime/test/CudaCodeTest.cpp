// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for the device cuda that is not what its module says: refused, and
// nothing is held. Runs with the double as its driver.

#include "NeedsCuda.h"
#include "Served.h"
#include "cuda/FindDouble.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

/// Of code that is not what a module says.
class CudaCode : public Served {
protected:
  void SetUp() override {
    if (std::string why = whyNoCuda(); !why.empty())
      GTEST_SKIP() << why;
    driver = findDouble();
    if (!driver)
      GTEST_SKIP() << noDouble;
    driver->start(0, 0, false);
    driver->isMisuseFailure = true;
    misusesBefore = driver->misuses;
  }
  void TearDown() override {
    if (driver)
      EXPECT_EQ(driver->misuses, misusesBefore);
  }
  ModuleBuilder sample() {
    ModuleBuilder b = sampleModule();
    EXPECT_TRUE(b.useCuda());
    return b;
  }
  void expectRefused(ModuleBuilder b, ashlar_status_code_t code,
                     const char *words) {
    expectSays(serve(b.build(), "cuda:0"), code, words);
    expectNothingAlive(*driver);
  }

  CudaDouble *driver = nullptr;
  uint64_t misusesBefore = 0;
};

TEST_F(CudaCode, TextThatIsNoPtxIsRefusedWithTheDriversLog) {
  ModuleBuilder b = sample();
  std::vector<uint8_t> &text =
      b.sectionBytes[b.program().executables[0]->section];
  text.assign(text.size(), 'x');
  expectRefused(std::move(b), ASHLAR_UNSUPPORTED, "its log: ");
}

TEST_F(CudaCode, AKernelThatIsNotThereIsNamed) {
  ModuleBuilder b = sample();
  b.program().kernels[0]->symbol = "nowhere";
  expectRefused(std::move(b), ASHLAR_CORRUPT,
                "the code lacks the kernel nowhere");
}

TEST_F(CudaCode, AKernelOfOtherParametersIsRefused) {
  ModuleBuilder b = sample();
  b.program().kernels[0]->symbol = "bare";
  expectRefused(std::move(b), ASHLAR_CORRUPT,
                "kernel bare takes 1 parameters; expected 10");
}

/// One argument more, of the first binding.
void addArgument(fb::KernelT &kernel, fb::ParameterKind kind) {
  auto argument = std::make_unique<fb::ParameterT>();
  argument->kind = kind;
  if (kind == fb::ParameterKind::TensorMap) {
    argument->map = std::make_unique<fb::TensorMapT>();
    argument->map->type = fb::ElementType::U8;
    argument->map->sizes.push_back(constant(16));
    argument->map->strides.push_back(constant(1));
    argument->map->box = argument->map->steps = {1};
  }
  kernel.arguments.push_back(std::move(argument));
}

TEST_F(CudaCode, ArgumentsOfAnotherOrderAreRefused) {
  ModuleBuilder b = sample();
  b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  addArgument(*b.program().kernels[0], fb::ParameterKind::TensorMap);
  addArgument(*b.program().kernels[0], fb::ParameterKind::Pointer);
  expectRefused(std::move(b), ASHLAR_UNSUPPORTED, "arguments of its own order");
}

TEST_F(CudaCode, ATensorMapIsAParameter) {
  ModuleBuilder b = sample();
  b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  auto &kernel = *b.program().kernels[0];
  for (uint32_t i = 0; i < kernel.bindings; ++i) {
    addArgument(kernel, fb::ParameterKind::Pointer);
    kernel.arguments.back()->index = i;
  }
  for (uint32_t i = 0; i < kernel.parameters; ++i) {
    addArgument(kernel, fb::ParameterKind::Integer);
    kernel.arguments.back()->index = i;
  }
  addArgument(kernel, fb::ParameterKind::TensorMap);
  expectRefused(std::move(b), ASHLAR_CORRUPT, "and 1 tensor maps");
}

TEST_F(CudaCode, ClustersWantAChipThatHasThem) {
  ModuleBuilder b = sample(); // the double is of 8.0
  b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  auto &kernel = *b.program().kernels[0];
  kernel.block = {32};
  kernel.cluster = {2};
  for (fb::CommandUnion &command : b.programEntry().commands)
    if (fb::DispatchT *dispatch = command.AsDispatch();
        dispatch && dispatch->kernel == 0)
      dispatch->grid.push_back(
          std::make_unique<fb::SizeExpressionT>(*dispatch->groups));
  expectRefused(std::move(b), ASHLAR_UNSUPPORTED, "has clusters");
}

TEST_F(CudaCode, CodeForAnotherGpuIsNotTaken) {
  ModuleBuilder b = sample();
  b.program().required_features.push_back("sm_90a");
  expectRefused(std::move(b), ASHLAR_UNSUPPORTED, "cuda:0 lacks sm_90a");
}

} // namespace

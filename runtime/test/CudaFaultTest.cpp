// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call of CUDA fails once, a device is lost at each of them, a kernel
// leaves its memory: a clear status, nothing leaks by the double's own count,
// no call is misused, and whoever begins anew is served. Runs with the double
// as its driver.

#include "NeedsCuda.h"
#include "Served.h"
#include "cuda/FindDouble.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

class CudaFailing : public Served {
protected:
  void SetUp() override {
    if (std::string why = whyNoCuda(); !why.empty())
      GTEST_SKIP() << why;
    driver = findDouble();
    if (!driver)
      GTEST_SKIP() << noDouble;
    start(0, 0, false);
    misusesBefore = driver->misuses;
    driver->isMisuseFailure = true;
    // The second captures a graph.
    rounds = 4;
    ModuleBuilder onDevice = sampleModule();
    ASSERT_TRUE(onDevice.useCuda());
    there = std::make_unique<ModuleBytes>(onDevice.build());
    here = std::make_unique<ModuleBytes>(sampleModule().build());
  }
  void TearDown() override {
    if (driver)
      EXPECT_EQ(driver->misuses, misusesBefore);
  }

  /// What is alive is all of a context's that is there.
  void start(uint64_t failing, int32_t code, bool isLost) {
    driver->start(failing, code, isLost);
    for (int i = 0; i < CudaDouble::Kinds; ++i)
      leftBefore[i] = driver->left[i];
  }
  void expectNothingAlive() {
    const char *const kinds[] = {"contexts", "device memory", "host memory",
                                 "streams",  "events",        "modules",
                                 "graphs",   "virtual memory"};
    for (int i = 0; i < CudaDouble::Kinds; ++i) {
      EXPECT_EQ(driver->alive[i], 0) << kinds[i];
      EXPECT_EQ(driver->left[i], leftBefore[i]) << kinds[i];
    }
  }

  /// Every `step`-th call fails.
  void failEach(int32_t code, bool isLost, uint64_t step) {
    for (uint64_t failing = 1; !HasFailure(); failing += step) {
      start(failing, code, isLost);
      ashlar_status_t status = serve(*there, "cuda:0");
      const char *failed = driver->failed;
      SCOPED_TRACE(std::string(failed ? failed : "nothing") + ", call " +
                   std::to_string(failing));
      // Whoever does not get to the device gives nothing back.
      if (!isLost && (!failed || std::strncmp(failed, "cuCtx", 5) != 0))
        expectNothingAlive();
      if (!failed) {
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        EXPECT_LT(driver->calls, failing);
        EXPECT_GT(failing, 60u);
        break;
      }
      // What is no graph is submitted.
      bool isNoGraph =
          !isLost && (driver->failedInCapture ||
                      std::strcmp(failed, "cuStreamBeginCapture_v2") == 0 ||
                      std::strcmp(failed, "cuGraphInstantiateWithFlags") == 0);
      if (isNoGraph)
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
      // What the driver does not say, the device does not have and a trace does
      // not tell; and where a queue ends all is done already.
      bool isSilent = std::strncmp(failed, "cuDeviceGet", 11) == 0 ||
                      isNoGraph ||
                      std::strcmp(failed, "cuEventElapsedTime") == 0 ||
                      std::strncmp(failed, "cuCtx", 5) == 0 ||
                      std::strcmp(failed, "cuStreamSynchronize") == 0;
      if (status.code == ASHLAR_OK) {
        EXPECT_TRUE(isSilent);
        continue;
      }
      if (!isSilent) {
        EXPECT_NE(said.find(failed), said.npos) << said;
        EXPECT_NE(said.find("CUDA_ERROR_"), said.npos) << said;
        EXPECT_NE(said.find("cuda:0 ("), said.npos) << said;
      }
      // Others go on meanwhile.
      if (failing % (4 * step) == 1) {
        status = serve(*here, "cpu:0");
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        start(0, 0, false);
        status = serve(*there, "cuda:0");
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
      }
    }
  }

  CudaDouble *driver = nullptr;
  uint64_t misusesBefore = 0;
  int64_t leftBefore[CudaDouble::Kinds] = {};
  std::unique_ptr<ModuleBytes> here, there;
};

TEST_F(CudaFailing, EveryCallFailsOnce) {
  failEach(/*CUDA_ERROR_OUT_OF_MEMORY*/ 2, /*isLost=*/false, 1);
}

TEST_F(CudaFailing, ADeviceIsLostInTheMiddle) {
  failEach(/*CUDA_ERROR_ECC_UNCORRECTABLE*/ 214, /*isLost=*/true, 3);
}

TEST_F(CudaFailing, NothingLeaksWhereAllGoesWell) {
  for (int round = 0; round < 3; ++round) {
    ashlar_status_t status = serve(*there, "cuda:0");
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    expectNothingAlive();
  }
  EXPECT_GT(driver->calls, 100u);
}

/// Runs checkingModule with a first element at which its kernel does what it
/// must not, and says what came of it.
class CudaKernelFault : public CudaFailing {};

TEST_F(CudaKernelFault, AnIllegalAddressIsALostDeviceAndANewRuntimeIsServed) {
  ModuleBuilder checking = checkingModule();
  ASSERT_TRUE(checking.useCuda());
  ModuleBytes file = checking.build();
  for (int round = 0; round < 2; ++round) {
    ashlar_runtime_t *runtime = nullptr;
    ashlar_module_t *module = nullptr;
    ashlar_session_t *session = nullptr;
    ASSERT_OK(ashlar_runtime_create(nullptr, &runtime));
    ashlar_load_options_t options = trusting();
    const char *device = "cuda:0";
    options.devices = &device;
    options.device_count = 1;
    ASSERT_OK(ashlar_module_load_memory(runtime, file.data(), file.size(),
                                        &options, &module));
    ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
    Floats x(sampleCount), z(sampleCount);
    for (size_t i = 0; i < size_t(sampleCount); ++i)
      x[i] = float(i + 1);
    ashlar_tensor_t input = tensorOf(x.data(), sampleCount),
                    output = tensorOf(z.data(), sampleCount);
    ASSERT_OK(ashlar_session_run(session, "main", &input, 1, &output, 1));
    x[0] = 3.2e38f;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_DEVICE_LOST, "CUDA_ERROR_");
    x[0] = 1;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_DEVICE_LOST, "the device is lost");
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
    EXPECT_EQ(driver->alive[CudaDouble::Contexts], 0);
  }
}

/// Of code that is not what a module says.
class CudaCode : public CudaFailing {
protected:
  ModuleBuilder sample() {
    ModuleBuilder b = sampleModule();
    EXPECT_TRUE(b.useCuda());
    return b;
  }
  void expectRefused(ModuleBuilder b, ashlar_status_code_t code,
                     const char *words) {
    expectSays(serve(b.build(), "cuda:0"), code, words);
    expectNothingAlive();
  }
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

TEST_F(CudaCode, CodeForAnotherGpuIsNotTaken) {
  ModuleBuilder b = sample();
  b.program().required_features.push_back("sm_90a");
  expectRefused(std::move(b), ASHLAR_UNSUPPORTED, "cuda:0 lacks sm_90a");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call of a GPU's driver fails once, a device is lost at each of them, a
// kernel leaves its memory: a clear status, nothing leaks by the double's own
// count, no call is misused, and whoever begins anew is served. Runs with the
// double as its driver.

#include "GpuVendor.h"
#include "Served.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

class GpuFailing : public Served {
protected:
  void SetUp() override {
    if (std::string why = whyNoDouble(driver); !why.empty())
      GTEST_SKIP() << why;
    start(0, 0, false);
    misusesBefore = driver->misuses;
    driver->isMisuseFailure = true;
    // The second captures a graph.
    rounds = 4;
    ModuleBuilder onDevice = sampleModule();
    ASSERT_TRUE((onDevice.*useGpu)());
    there = std::make_unique<ModuleBytes>(onDevice.build());
    here = std::make_unique<ModuleBytes>(sampleModule().build());
  }
  void TearDown() override {
    if (driver)
      EXPECT_EQ(driver->misuses, misusesBefore);
  }

  /// What is alive of a context's when it goes was not given back.
  void start(uint64_t failing, int32_t code, bool isLost) {
    driver->start(failing, code, isLost);
    for (int i = 0; i < CudaDouble::Kinds; ++i) {
      leftBefore[i] = driver->left[i];
      aliveBefore[i] = driver->alive[i];
    }
  }
  void expectNothingAlive() {
    const char *const kinds[] = {"contexts", "device memory",  "host memory",
                                 "streams",  "events",         "modules",
                                 "graphs",   "virtual memory", "pools"};
    for (int i = 0; i < CudaDouble::Kinds; ++i) {
      EXPECT_EQ(driver->alive[i], aliveBefore[i]) << kinds[i];
      EXPECT_EQ(driver->left[i], leftBefore[i]) << kinds[i];
    }
  }

  /// Every `step`-th call fails.
  void failEach(int32_t code, bool isLost, uint64_t step) {
    for (uint64_t failing = 1; !HasFailure(); failing += step) {
      start(failing, code, isLost);
      ashlar_status_t status = serve(*there, gpuDevice);
      const char *failed = driver->failed;
      SCOPED_TRACE(std::string(failed ? failed : "nothing") + ", call " +
                   std::to_string(failing));
      // Whoever does not get to the device gives nothing back.
      if (!isLost && (!failed || !isOfTheThread(failed)))
        expectNothingAlive();
      if (!failed) {
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        EXPECT_LT(driver->calls, failing);
        EXPECT_GT(failing, 60u);
        break;
      }
      // What is no graph is submitted.
      bool isNoGraph = !isLost && (driver->failedInCapture ||
                                   isCall(failed, "StreamBeginCapture") ||
                                   isCall(failed, "GraphInstantiate"));
      if (isNoGraph)
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
      // What the driver does not say, the device does not have and a trace does
      // not tell; and where a queue ends all is done already.
      bool isSilent = isCall(failed, "DeviceGet") || isNoGraph ||
                      isCall(failed, "EventElapsedTime") ||
                      isOfTheThread(failed) || isCall(failed, "StreamQuery") ||
                      isCall(failed, "StreamSynchronize");
      if (status.code == ASHLAR_OK) {
        EXPECT_TRUE(isSilent);
        continue;
      }
      if (!isSilent) {
        EXPECT_NE(said.find(failed), said.npos) << said;
        EXPECT_NE(said.find(gpuErrors), said.npos) << said;
        EXPECT_NE(said.find((std::string(gpuDevice) + " (")), said.npos)
            << said;
        // Also where it was not there to be opened.
        if (isLost)
          EXPECT_EQ(status.code, ASHLAR_DEVICE_LOST) << said;
      }
      // Others go on meanwhile.
      if (failing % (4 * step) == 1) {
        status = serve(*here, "cpu:0");
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
        start(0, 0, false);
        status = serve(*there, gpuDevice);
        EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
      }
    }
  }

  CudaDouble *driver = nullptr;
  uint64_t misusesBefore = 0;
  int64_t leftBefore[CudaDouble::Kinds] = {};
  // What stays where nobody got to the device to give it back.
  int64_t aliveBefore[CudaDouble::Kinds] = {};
  std::unique_ptr<ModuleBytes> here, there;
};

TEST_F(GpuFailing, EveryCallFailsOnce) {
  failEach(/*out of memory*/ 2, /*isLost=*/false, 1);
}

TEST_F(GpuFailing, ADeviceIsLostInTheMiddle) {
  failEach(/*uncorrectable ECC*/ 214, /*isLost=*/true, 3);
}

// The processor's program takes its place, unless it has begun to run.
TEST_F(GpuFailing, SoftPlacementStepsOverADeviceThatIsLostWhileItLoads) {
  ModuleBuilder b = sampleModule();
  auto host = std::make_unique<ashlar::fb::ProgramT>(b.program());
  std::vector<uint8_t> code = b.sectionBytes[host->executables[0]->section];
  ASSERT_TRUE((b.*useGpu)());
  host->executables[0]->section =
      b.addSection(ashlar::fb::SectionKind::Code, std::move(code));
  b.module.programs.push_back(std::move(host));
  ModuleBytes both = b.build();
  placement = ASHLAR_PLACEMENT_SOFT;
  bool wasLoaded = false;
  uint64_t steps = 0;
  for (uint64_t failing = 1; !wasLoaded && !HasFailure(); ++failing) {
    start(failing, /*uncorrectable ECC*/ 214, /*isLost=*/true);
    ashlar_status_t status = serve(both, gpuDevice);
    const char *failed = driver->failed;
    ASSERT_NE(failed, nullptr) << "call " << failing << " on " << loadedOn;
    SCOPED_TRACE(std::string(failed) + ", call " + std::to_string(failing));
    wasLoaded = loadedOn != "cpu:0";
    if (!wasLoaded)
      EXPECT_EQ(status.code, ASHLAR_OK) << said;
    ++steps;
  }
  // Of what is opened, its code and its weights each call.
  EXPECT_GT(steps, 15u);
  start(0, 0, false);
  ashlar_status_t status = serve(both, gpuDevice);
  EXPECT_EQ(status.code, ASHLAR_OK) << said;
  EXPECT_EQ(loadedOn, gpuDevice);
}

TEST_F(GpuFailing, NothingLeaksWhereAllGoesWell) {
  for (int round = 0; round < 3; ++round) {
    ashlar_status_t status = serve(*there, gpuDevice);
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    expectNothingAlive();
  }
  EXPECT_GT(driver->calls, 100u);
}

/// Runs checkingModule with a first element at which its kernel does what it
/// must not, and says what came of it.
class GpuKernelFault : public GpuFailing {};

// With HIP the device is lost to the whole process.
TEST_F(GpuKernelFault, AnIllegalAddressIsALostDeviceAndANewRuntimeIsServed) {
  ModuleBuilder checking = checkingModule();
  ASSERT_TRUE((checking.*useGpu)());
  ModuleBytes file = checking.build();
  const bool isForGood = std::string(gpuDevice) == "hip:0";
  for (int round = 0; round < (isForGood ? 1 : 2); ++round) {
    ashlar_runtime_t *runtime = nullptr;
    ashlar_module_t *module = nullptr;
    ashlar_session_t *session = nullptr;
    ASSERT_OK(ashlar_runtime_create(nullptr, &runtime));
    ashlar_load_options_t options = trusting();
    const char *device = gpuDevice;
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
    ashlar_status_t status =
        ashlar_session_run(session, "main", &input, 1, &output, 1);
    expectSays(status, ASHLAR_DEVICE_LOST, gpuErrors);
    // The only kernel, by its name and its node's.
    expectSays(status, ASHLAR_DEVICE_LOST,
               "under way: kernel check_f32.0 (node_of_check_f32)");
    x[0] = 1;
    expectSays(ashlar_session_run(session, "main", &input, 1, &output, 1),
               ASHLAR_DEVICE_LOST, "the device is lost");
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
    EXPECT_EQ(driver->alive[CudaDouble::Contexts], 0);
  }
}

} // namespace

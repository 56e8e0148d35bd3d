// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU that never ends what it was given is lost after the time that the
// runtime's options give it: whoever waits is told, and nothing that it may
// still use is given back. Runs with the double as its driver, which sees what
// is used after it was given back. What such a device keeps it keeps to the end
// of the process, so each test is a process of its own.

#include "GpuVendor.h"
#include "Served.h"

#include <chrono>
#include <thread>

using namespace ashlar::test;
using ashlar::runtime::CopyKind;
using ashlar::runtime::DeviceAddress;
using ashlar::runtime::Status;

namespace {

constexpr uint64_t limit = 300'000'000; // nanoseconds

class GpuHangs : public Served {
protected:
  void SetUp() override {
    if (std::string why = whyNoDouble(driver); !why.empty())
      GTEST_SKIP() << why;
    driver->isMisuseFailure = true;
    driver->start(0, 0, false);
    runtimeOptions.device_wait_ns = limit;
    ASSERT_OK(ashlar_runtime_create(&runtimeOptions, &runtime));
    begun = std::chrono::steady_clock::now();
  }
  void TearDown() override {
    if (!runtime)
      return;
    ashlar_session_release(session);
    ashlar_module_release(module);
    ashlar_runtime_release(runtime);
    // All that was to be released is, and nobody waited for the device.
    EXPECT_LT(std::chrono::steady_clock::now() - begun,
              std::chrono::seconds(60));
    expectKept();
    // It goes on after all: into memory that is still its own.
    driver->isHanging = false;
    const uint64_t done = driver->finished;
    for (int i = 0; i < 10000 && driver->finished == done; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(driver->finished, done);
    EXPECT_EQ(driver->misuses, 0u);
    // Whoever begins anew is served.
    ModuleBuilder b = sampleModule();
    ASSERT_TRUE((b.*useGpu)());
    ashlar_status_t status = serve(b.build(), gpuDevice);
    EXPECT_EQ(status.code, ASHLAR_OK) << status.message;
    EXPECT_EQ(driver->misuses, 0u);
  }
  /// From now on nothing ends.
  void hang() {
    driver->isHanging = true;
    for (int i = 0; i < CudaDouble::Kinds; ++i)
      alive[i] = driver->alive[i];
  }
  /// Nothing of what there was when it began to hang was given back.
  void expectKept() {
    for (int i = 0; i < CudaDouble::Kinds; ++i)
      EXPECT_GE(driver->alive[i], alive[i]) << i;
  }
  void load(ModuleBuilder b) {
    ASSERT_TRUE((b.*useGpu)());
    ModuleBytes file = b.build();
    ashlar_load_options_t options = trusting();
    const char *device = gpuDevice;
    options.devices = &device;
    options.device_count = 1;
    ASSERT_OK(ashlar_module_load_memory(runtime, file.data(), file.size(),
                                        &options, &module));
    // Loaded from memory, it is used as long as the module.
    files.push_back(std::move(file));
    ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
  }
  ashlar_status_t runSample() {
    SampleArguments a;
    return ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
  }
  static bool saysSilence(const Status &status) {
    EXPECT_EQ(status.code(), ASHLAR_DEVICE_LOST);
    return std::string(status.message())
               .find("has not ended what it was given within 300 ms") !=
           std::string::npos;
  }

  CudaDouble *driver = nullptr;
  int64_t alive[CudaDouble::Kinds] = {};
  ashlar_runtime_t *runtime = nullptr;
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  std::vector<ModuleBytes> files;
  std::chrono::steady_clock::time_point begun;
};

TEST_F(GpuHangs, AKernelWithoutAnEndIsALostDeviceAndIsNamed) {
  load(checkingModule());
  Floats x(sampleCount), z(sampleCount);
  ashlar_tensor_t input = tensorOf(x.data(), sampleCount),
                  output = tensorOf(z.data(), sampleCount);
  auto run = [&] {
    return ashlar_session_run(session, "main", &input, 1, &output, 1);
  };
  x[0] = 1;
  ASSERT_OK(run());
  hang();
  ashlar_status_t status = run();
  expectSays(status, ASHLAR_DEVICE_LOST,
             "has not ended what it was given within 300 ms, the longest that "
             "one waits for it (device_wait_ns of the runtime's options)");
  expectSays(status, ASHLAR_DEVICE_LOST,
             "under way: kernel check_f32.0 (node_of_check_f32)");
  expectSays(run(), ASHLAR_DEVICE_LOST, "the device is lost");
}

// The second run captures it, the third launches it.
TEST_F(GpuHangs, SoIsAGraphsAndTheRuntimeBeginsNothingMoreThere) {
  load(sampleModule());
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(runSample());
  hang();
  expectSays(runSample(), ASHLAR_DEVICE_LOST,
             "has not ended what it was given within 300 ms");
  ashlar_session_t *other = nullptr;
  expectSays(ashlar_session_create(module, nullptr, nullptr, &other),
             ASHLAR_DEVICE_LOST, "has not ended what it was given");
}

class GpuQueueHangs : public GpuHangs {
protected:
  void SetUp() override {
    GpuHangs::SetUp();
    if (!runtime)
      return;
    ASSERT_OK(ashlar_device_open(runtime, gpuDevice, &device));
    ashlar::runtime::QueueOptions alone = {};
    alone.workers = 1;
    ASSERT_TRUE(
        ops().allocate(device->state, bytes, ASHLAR_MEMORY_ARENA, &place).ok());
    ASSERT_TRUE(ops().createQueue(device->state, alone, &queue).ok());
    ASSERT_TRUE(ops().createEvent(device->state, &event).ok());
  }
  void TearDown() override {
    if (queue)
      ops().destroyQueue(queue);
    if (event)
      ops().destroyEvent(event);
    if (device)
      ops().free(device->state, place, bytes);
    GpuHangs::TearDown();
  }
  const ashlar::runtime::DeviceOps &ops() const { return device->ops; }
  Status copyIn(size_t size) {
    return ops().copy(queue, CopyKind::In, place, {host.data(), 0}, size);
  }

  static constexpr size_t bytes = 2 << 20;
  ashlar_device_t *device = nullptr;
  std::vector<char> host = std::vector<char>(bytes);
  DeviceAddress place;
  void *queue = nullptr, *event = nullptr;
};

TEST_F(GpuQueueHangs, ItsEndWaitsNoLonger) {
  hang();
  EXPECT_TRUE(copyIn(64).ok());
}

// The third piece waits until the first was read.
TEST_F(GpuQueueHangs, ALargeCopyToItWaitsNoLonger) {
  hang();
  EXPECT_TRUE(saysSilence(copyIn(bytes)));
}

// The driver itself would wait.
TEST_F(GpuQueueHangs, ALargeCopyFromItWaitsNoLonger) {
  hang();
  EXPECT_TRUE(copyIn(64).ok());
  EXPECT_TRUE(saysSilence(
      ops().copy(queue, CopyKind::Out, {host.data(), 0}, place, bytes)));
}

TEST_F(GpuQueueHangs, AReadBackWaitsNoLonger) {
  hang();
  EXPECT_TRUE(copyIn(64).ok());
  EXPECT_TRUE(saysSilence(ops().readBack(queue, place, host.data(), 64)));
}

// Who has a limit of its own hears that it has not come.
TEST_F(GpuQueueHangs, AnEventIsNotThereAndThenNeverWillBe) {
  hang();
  EXPECT_TRUE(copyIn(64).ok());
  ASSERT_TRUE(ops().record(queue, event).ok());
  bool came = true;
  EXPECT_TRUE(ops().wait(event, limit / 30, &came).ok());
  EXPECT_FALSE(came);
  EXPECT_TRUE(saysSilence(ops().wait(event, UINT64_MAX, &came)));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory comes from a pool and goes back to it at once; large copies to the
// device go by way of pinned memory. Runs with the double as its driver, and
// with one that has no pools.

#include "Loaded.h"
#include "NeedsCuda.h"
#include "cuda/FindDouble.h"

#include <dlfcn.h>
#include <string>
#include <vector>

using namespace ashlar::test;
using ashlar::runtime::CopyKind;
using ashlar::runtime::DeviceAddress;

namespace {

class CudaMemory : public RuntimeTest {
protected:
  void SetUp() override {
    if (std::string why = whyNoCuda(); !why.empty())
      GTEST_SKIP() << why;
    driver = findDouble();
    if (!driver)
      GTEST_SKIP() << noDouble;
    driver->isMisuseFailure = true;
    misusesBefore = driver->misuses;
    driver->start(0, 0, false);
    RuntimeTest::SetUp();
  }
  void TearDown() override {
    RuntimeTest::TearDown();
    if (!driver)
      return;
    driver->start(0, 0, false);
    EXPECT_EQ(driver->misuses, misusesBefore);
    expectNothingAlive(*driver);
    EXPECT_EQ(driver->bytes, 0);
  }
  template <typename... Arguments>
  int call(const char *name, Arguments... arguments) {
    auto function = reinterpret_cast<int (*)(Arguments...)>(
        dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
    return function(arguments...);
  }
  void serve() {
    ModuleBuilder b = sampleModule();
    ASSERT_TRUE(b.useCuda());
    loadOn("cuda:0", std::move(b));
    start();
    for (int round = 0; round < 3; ++round) {
      SampleArguments a;
      a.x[3] += float(round);
      ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
      a.expectResult();
    }
    ashlar_session_release(session);
    ashlar_module_release(module);
    session = nullptr;
    module = nullptr;
  }

  CudaDouble *driver = nullptr;
  uint64_t misusesBefore = 0;
};

class CudaUploads : public CudaMemory {
protected:
  /// A queue is given bytes, and back.
  ashlar::runtime::Status passThrough(const std::vector<uint8_t> &bytes) {
    ashlar_device_t *device = nullptr;
    EXPECT_CODE(ASHLAR_OK, ashlar_device_open(runtime, "cuda:0", &device));
    const auto &ops = device->ops;
    ashlar::runtime::QueueOptions alone = {};
    alone.workers = 1;
    DeviceAddress place;
    void *queue = nullptr;
    EXPECT_TRUE(
        ops.allocate(device->state, bytes.size(), ASHLAR_MEMORY_ARENA, &place)
            .ok());
    EXPECT_TRUE(ops.createQueue(device->state, alone, &queue).ok());
    driver->start(failing, /*out of memory*/ 2, false);
    std::vector<uint8_t> given = bytes, back(bytes.size());
    auto status =
        ops.copy(queue, CopyKind::In, place, {given.data(), 0}, given.size());
    // It was read.
    given.assign(given.size(), 0xEE);
    if (status.ok())
      status = ops.readBack(queue, place, back.data(), back.size());
    if (status.ok())
      EXPECT_EQ(back, bytes);
    failed = driver->failed;
    driver->start(0, 0, false);
    ops.destroyQueue(queue);
    ops.free(device->state, place, bytes.size());
    return status;
  }
  static std::vector<uint8_t> numbered(size_t size) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i)
      bytes[i] = uint8_t(i * 2654435761u >> 13);
    return bytes;
  }

  uint64_t failing = 0; // that call of the driver
  const char *failed = nullptr;
};

// Whoever comes, grows and goes does not make others wait, and what was free is
// the device's again when the call returns.
TEST_F(CudaMemory, IsAPoolsAndTheDevicesAgainAtOnce) {
  void *context = nullptr;
  size_t before = 0, after = 0, all = 0;
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "cuda:0", &device));
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), 0);
  ASSERT_EQ(call("cuCtxPushCurrent_v2", context), 0);
  ASSERT_EQ(call("cuMemGetInfo_v2", &before, &all), 0);
  const uint64_t waits = driver->waitingAllocations;
  serve();
  EXPECT_EQ(driver->waitingAllocations, waits);
  EXPECT_EQ(driver->alive[CudaDouble::Pools], 1);
  EXPECT_GT(driver->mostBytes, 0);
  ASSERT_EQ(call("cuMemGetInfo_v2", &after, &all), 0);
  EXPECT_EQ(after, before);
  EXPECT_EQ(call("cuCtxPopCurrent_v2", &context), 0);
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease_v2", 0), 0);
}

// docs/memory-contract.md
TEST_F(CudaMemory, OfAnOpenDeviceHasWordsOfQueuesAndNothingForNoBytes) {
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "cuda:0", &device));
  EXPECT_EQ(driver->bytes, 4096);
  const auto &ops = device->ops;
  DeviceAddress none;
  ASSERT_TRUE(
      ops.allocate(device->state, 0, ASHLAR_MEMORY_SCRATCH, &none).ok());
  EXPECT_NE(none.base, nullptr);
  ops.free(device->state, none, 0);
  ashlar::runtime::QueueOptions alone = {};
  alone.workers = 1;
  std::vector<void *> queues(65);
  for (size_t i = 0; i < queues.size(); ++i) {
    EXPECT_EQ(driver->bytes, 4096);
    ASSERT_TRUE(ops.createQueue(device->state, alone, &queues[i]).ok());
  }
  EXPECT_EQ(driver->bytes, 2 * 4096);
  for (void *queue : queues)
    ops.destroyQueue(queue);
  // Others take these.
  for (void *&queue : queues)
    ASSERT_TRUE(ops.createQueue(device->state, alone, &queue).ok());
  EXPECT_EQ(driver->bytes, 2 * 4096);
  for (void *queue : queues)
    ops.destroyQueue(queue);
}

TEST_F(CudaUploads, GoThroughPinnedMemory) {
  constexpr size_t piece = 512 * 1024;
  for (size_t size :
       {size_t(65537), piece, piece + 1, 2 * piece - 3, 5 * piece + 12345}) {
    const uint64_t staged = driver->stagedCopies;
    auto status = passThrough(numbered(size));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(driver->stagedCopies, staged) << size;
  }
}

// Where no memory is left to be pinned, the driver stages.
TEST_F(CudaUploads, FailByTheCallThatFails) {
  const std::vector<uint8_t> bytes = numbered(5 * 512 * 1024 + 1);
  bool wasStaged = false;
  for (failing = 1; !HasFailure(); ++failing) {
    const uint64_t staged = driver->stagedCopies;
    auto status = passThrough(bytes);
    if (!failed) {
      EXPECT_TRUE(status.ok());
      // Events, memory, six copies and what marks their ends among them.
      EXPECT_GT(failing, 20u);
      EXPECT_TRUE(wasStaged);
      break;
    }
    if (!std::strcmp(failed, "cuMemHostAlloc")) {
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(driver->stagedCopies, staged + 1);
      wasStaged = true;
      continue;
    }
    EXPECT_FALSE(status.ok()) << failed;
    EXPECT_NE(std::string(status.message()).find(failed), std::string::npos)
        << status.message();
  }
}

// Of drivers before CUDA 11.2.
class CudaWithoutPools : public CudaMemory {};

TEST_F(CudaWithoutPools, AllocationsAreTheDriversOwn) {
  const uint64_t waits = driver->waitingAllocations;
  serve();
  EXPECT_GT(driver->waitingAllocations, waits);
  EXPECT_EQ(driver->alive[CudaDouble::Pools], 0);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every device owes. Runs on each device of allDevices() that the machine
// has; a new device needs nothing here. QueueConformance.cpp goes on.

#include "OpenDevice.h"

#include <unistd.h>

using namespace ashlar::runtime;
using namespace ashlar::test;

namespace {

class DeviceConformance : public DeviceTest {};

TEST_P(DeviceConformance, FillsTheWholeTable) {
  const DeviceOps &o = ops();
  EXPECT_TRUE(o.type && o.programs && o.close && o.features && o.accepts &&
              o.checkMemory && o.allocate && o.free && o.loadExecutable &&
              o.unloadExecutable && o.findKernel && o.createQueue &&
              o.destroyQueue && o.copy && o.submit && o.readBack &&
              o.createEvent && o.destroyEvent && o.record && o.waitFor &&
              o.wait);
  // Graphs are there as a whole.
  EXPECT_EQ(o.capture != nullptr, o.launch != nullptr);
  EXPECT_EQ(o.capture != nullptr, o.destroyGraph != nullptr);
  if (o.external)
    EXPECT_TRUE(o.external->granularity && o.external->open &&
                o.external->share && o.external->close);
  // Whoever follows control flow sees the bytes that decide.
  if (o.follow)
    EXPECT_NE(o.memory, MemoryKind::Device);
}

TEST_P(DeviceConformance, KnowsNoImaginaryFeature) {
  EXPECT_FALSE(device->hasFeature("imaginary"));
  EXPECT_FALSE(device->hasFeature(""));
  EXPECT_FALSE(ops().accepts(state(), ""));
  EXPECT_FALSE(ops().accepts(state(), "imaginary"));
}

TEST_P(DeviceConformance, MemoryIsAligned) {
  for (uint64_t size : {0, 1, 63, 64, 4097, 1 << 20}) {
    DeviceAddress address;
    ASSERT_TRUE(
        ops().allocate(state(), size, ASHLAR_MEMORY_ARENA, &address).ok());
    ASSERT_NE(address.base, nullptr);
    EXPECT_EQ(address.offset, 0u);
    // A handle says nothing of where its memory is.
    if (ops().memory != MemoryKind::Device)
      EXPECT_EQ(reinterpret_cast<uintptr_t>(address.base) % 64, 0u);
    ops().free(state(), address, size);
  }
}

TEST_P(DeviceConformance, ImpossibleMemoryIsAStatusAndLeavesTheRestUsable) {
  for (uint64_t size : {uint64_t(1) << 62, UINT64_MAX}) {
    DeviceAddress address;
    EXPECT_FALSE(
        ops().allocate(state(), size, ASHLAR_MEMORY_WEIGHTS, &address).ok());
    EXPECT_EQ(address.base, nullptr);
  }
  EXPECT_NE(allocate(64).base, nullptr);
}

TEST_P(DeviceConformance, SaysWhetherMemoryIsThere) {
  EXPECT_TRUE(ops().checkMemory(state(), 0).ok());
  EXPECT_TRUE(ops().checkMemory(state(), 4096).ok());
  // Where it knows that there is none, there is none.
  for (uint64_t size : {uint64_t(1) << 62, UINT64_MAX})
    if (!ops().checkMemory(state(), size).ok()) {
      DeviceAddress address;
      EXPECT_FALSE(
          ops().allocate(state(), size, ASHLAR_MEMORY_ARENA, &address).ok());
    }
}

// Where it has such memory: what is written by one address is read by another.
TEST_P(DeviceConformance, ADescriptorStandsForTheSameBytes) {
  const ExternalOps *external = ops().external;
  if (!external)
    GTEST_SKIP() << GetParam()->type << " has no memory by descriptor";
  uint64_t step = 0;
  if (Status status = external->granularity(state(), &step); !status.ok())
    GTEST_SKIP() << status.message();
  ASSERT_GT(step, 0u);
  ASSERT_EQ(step & (step - 1), 0u);
  const uint64_t size = 2 * step;
  ExternalMemory made, taken;
  int descriptor = -1;
  ASSERT_TRUE(external->open(state(), -1, size, &made).ok());
  EXPECT_EQ(made.size, size);
  ASSERT_TRUE(external->share(state(), made, &descriptor).ok());
  ASSERT_TRUE(external->open(state(), descriptor, size, &taken).ok());
  EXPECT_NE(made.address.base, taken.address.base);
  EXPECT_FALSE(external->open(state(), descriptor, 2 * size, &taken).ok());
  close(descriptor);
  std::vector<int> given(size / sizeof(int)), found(given.size());
  for (size_t i = 0; i < given.size(); ++i)
    given[i] = int(i * 7);
  void *queue = makeQueue();
  copyIn(queue, made.address, given);
  ASSERT_TRUE(ops().readBack(queue, taken.address, found.data(), size).ok());
  EXPECT_EQ(given, found);
  external->close(state(), made);
  // It stays as long as one has it.
  std::fill(found.begin(), found.end(), 0);
  ASSERT_TRUE(ops().readBack(queue, taken.address, found.data(), size).ok());
  EXPECT_EQ(given, found);
  external->close(state(), taken);
}

TEST_P(DeviceConformance, KeepsTheFirstFailure) {
  EXPECT_TRUE(device->status().ok());
  device->lose(Status(ASHLAR_INTERNAL, "the first"));
  device->lose(Status(ASHLAR_INTERNAL, "the second"));
  EXPECT_EQ(device->status().code(), ASHLAR_DEVICE_LOST);
  EXPECT_STREQ(device->status().message(), "the first");
}

INSTANTIATE_TEST_SUITE_P(All, DeviceConformance,
                         testing::ValuesIn(allDevices()),
                         [](const auto &info) { return nameOf(*info.param); });

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every device owes. Runs on each device of allDevices() that the machine
// has; a new device needs nothing here.

#include "devices/Device.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <cstring>

using namespace ashlar::runtime;

namespace {

Command command(Command::Kind kind, uint32_t firstPointer = 0,
                int64_t extent = 0, uint32_t target = 0) {
  Command command = {};
  command.kind = kind;
  command.firstPointer = firstPointer;
  command.extent = extent;
  command.target = target;
  command.loop = Command::none;
  return command;
}

class DeviceConformance : public testing::TestWithParam<const DeviceOps *> {
protected:
  void SetUp() override {
    if (GetParam()->count() == 0)
      GTEST_SKIP() << "the machine has no " << GetParam()->type;
    device = std::make_unique<ashlar_device_t>(
        *GetParam(), std::string(GetParam()->type) + ":0");
    ASSERT_TRUE(device->open(0).ok());
  }
  const DeviceOps &ops() { return device->ops; }
  void *state() { return device->state; }
  void *allocate(uint64_t size) {
    void *address = nullptr;
    EXPECT_TRUE(ops().allocate(state(), size, &address).ok());
    return address;
  }
  Status execute(void *queue, const CommandList &list, RunControl &control) {
    Sequencer sequencer(list, control);
    return ops().execute(queue, sequencer, sequencer.whole());
  }
  std::unique_ptr<ashlar_device_t> device;
};

TEST_P(DeviceConformance, FillsTheWholeTable) {
  EXPECT_TRUE(ops().close && ops().features && ops().accepts &&
              ops().allocate && ops().free && ops().copyIn && ops().copyOut &&
              ops().loadExecutable && ops().unloadExecutable &&
              ops().findKernel && ops().createQueue && ops().destroyQueue &&
              ops().execute);
}

TEST_P(DeviceConformance, KnowsNoImaginaryFeature) {
  EXPECT_FALSE(device->hasFeature("imaginary"));
  EXPECT_FALSE(device->hasFeature(""));
  EXPECT_FALSE(ops().accepts(state(), ""));
  EXPECT_FALSE(ops().accepts(state(), "imaginary"));
}

TEST_P(DeviceConformance, MemoryIsAligned) {
  for (uint64_t size : {0, 1, 63, 64, 4097, 1 << 20}) {
    void *address = allocate(size);
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0u);
    ops().free(state(), address, size);
  }
}

TEST_P(DeviceConformance, ImpossibleMemoryIsAStatus) {
  void *address = nullptr;
  EXPECT_FALSE(ops().allocate(state(), uint64_t(1) << 62, &address).ok());
}

TEST_P(DeviceConformance, CopiesInAndOut) {
  std::vector<uint8_t> in(100000), out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint8_t(i * 7);
  void *memory = allocate(in.size());
  ASSERT_TRUE(ops().copyIn(state(), memory, in.data(), in.size()).ok());
  ASSERT_TRUE(ops().copyOut(state(), out.data(), memory, out.size()).ok());
  EXPECT_EQ(in, out);
  ops().free(state(), memory, in.size());
}

TEST_P(DeviceConformance, QueuesCopyInOrder) {
  constexpr uint64_t size = 3 << 20;
  std::vector<uint8_t> in(size), out(size);
  for (size_t i = 0; i < size; ++i)
    in[i] = uint8_t(i * 13 + i / 256);
  for (uint32_t workers : {1u, 3u}) {
    void *a = allocate(size), *b = allocate(size), *c = allocate(size);
    ASSERT_TRUE(ops().copyIn(state(), a, in.data(), size).ok());
    QueueOptions options = {};
    options.workers = workers;
    void *queue = nullptr;
    ASSERT_TRUE(ops().createQueue(state(), options, &queue).ok());
    CommandList list;
    list.parallel = true;
    list.pointers = {a, b, b, c};
    list.commands = {command(Command::Copy, 0, size),
                     command(Command::Barrier, 2),
                     command(Command::Copy, 2, size)};
    for (int round = 0; round < 3; ++round) {
      RunControl control;
      ASSERT_TRUE(execute(queue, list, control).ok());
      uint32_t command;
      int32_t code;
      EXPECT_FALSE(control.failed(command, code));
    }
    ASSERT_TRUE(ops().copyOut(state(), out.data(), c, size).ok());
    EXPECT_EQ(in, out);
    ops().destroyQueue(queue);
    for (void *memory : {a, b, c})
      ops().free(state(), memory, size);
  }
}

TEST_P(DeviceConformance, FollowsConditionsAndLoops) {
  // Row after row of a to b backwards, four times; then b's first row to c if
  // the byte of a is set, else b's second row.
  constexpr int64_t row = 64, rows = 4;
  std::vector<char> in(row * rows), out(row * rows), last(row);
  for (bool isSet : {false, true})
    for (uint32_t workers : {1u, 3u}) {
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = char(i + 1);
      in[0] = isSet;
      void *a = allocate(in.size()), *b = allocate(in.size()),
           *c = allocate(row);
      ASSERT_TRUE(ops().copyIn(state(), a, in.data(), in.size()).ok());
      QueueOptions options = {};
      options.workers = workers;
      void *queue = nullptr;
      ASSERT_TRUE(ops().createQueue(state(), options, &queue).ok());
      CommandList list;
      list.parallel = list.structured = true;
      list.pointers = {a, static_cast<char *>(b) + row * (rows - 1),
                       a, b,
                       c, static_cast<char *>(b) + row,
                       c};
      Command moving = command(Command::Copy, 0, row);
      moving.loop = 0;
      moving.strides[0] = row;
      moving.strides[1] = -row;
      list.commands = {command(Command::LoopEnter, Command::none),
                       command(Command::LoopTest, Command::none, rows, 4),
                       moving,
                       command(Command::LoopNext, Command::none, 0, 1),
                       command(Command::Branch, 2, 0, 7),
                       command(Command::Copy, 3, row),
                       command(Command::Jump, Command::none, 0, 8),
                       command(Command::Copy, 5, row)};
      for (Command &each : list.commands)
        if (each.isControl())
          each.loop = 0;
      for (int round = 0; round < 3; ++round) {
        RunControl control;
        ASSERT_TRUE(execute(queue, list, control).ok());
      }
      ASSERT_TRUE(ops().copyOut(state(), out.data(), b, out.size()).ok());
      ASSERT_TRUE(ops().copyOut(state(), last.data(), c, row).ok());
      for (int64_t i = 0; i < rows; ++i)
        EXPECT_TRUE(std::equal(in.begin() + i * row, in.begin() + (i + 1) * row,
                               out.begin() + (rows - 1 - i) * row));
      EXPECT_TRUE(std::equal(last.begin(), last.end(),
                             out.begin() + (isSet ? 0 : row)));
      ops().destroyQueue(queue);
      ops().free(state(), a, in.size());
      ops().free(state(), b, in.size());
      ops().free(state(), c, row);
    }
}

TEST_P(DeviceConformance, AnEmptyListAndACancelledOneEnd) {
  QueueOptions options = {};
  options.workers = 2;
  void *queue = nullptr;
  ASSERT_TRUE(ops().createQueue(state(), options, &queue).ok());
  RunControl control;
  EXPECT_TRUE(execute(queue, {}, control).ok());
  control.cancel();
  CommandList list;
  void *memory = allocate(64);
  list.pointers = {memory, memory};
  list.commands = {command(Command::Barrier), command(Command::Copy),
                   command(Command::Barrier)};
  EXPECT_TRUE(execute(queue, list, control).ok());
  ops().destroyQueue(queue);
  ops().free(state(), memory, 64);
}

TEST_P(DeviceConformance, KeepsTheFirstFailure) {
  EXPECT_TRUE(device->status().ok());
  device->lose(Status(ASHLAR_INTERNAL, "the first"));
  device->lose(Status(ASHLAR_INTERNAL, "the second"));
  EXPECT_EQ(device->status().code(), ASHLAR_DEVICE_LOST);
  EXPECT_STREQ(device->status().message(), "the first");
}

INSTANTIATE_TEST_SUITE_P(All, DeviceConformance,
                         testing::ValuesIn(allDevices()), [](const auto &info) {
                           return std::string(info.param->type);
                         });

} // namespace

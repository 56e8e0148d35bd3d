// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every device's queues owe: copies between all memories, order, events,
// submissions that move with loops, graphs. Runs on each device of allDevices()
// that the machine has.

#include "OpenDevice.h"

#include <cstring>

using namespace ashlar::runtime;
using namespace ashlar::test;

namespace {

std::vector<uint8_t> pattern(size_t size, unsigned seed = 0) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = uint8_t(i * 13 + i / 256 + seed);
  return bytes;
}

/// A list of copies within a device; pointers are filled in for those who read
/// them.
struct Copies {
  CommandList list;
  RunControl control;
  LoopCounters counters = {};

  Command &add(DeviceAddress from, DeviceAddress to, uint64_t size) {
    list.commands.push_back(
        command(Command::Copy, uint32_t(list.addresses.size()), int64_t(size)));
    for (DeviceAddress side : {from, to}) {
      list.addresses.push_back(side);
      list.pointers.push_back(side.pointer());
      list.extents.push_back({size, side == to});
    }
    list.parallel = true;
    return list.commands.back();
  }
  void barrier() { list.commands.push_back(command(Command::Barrier)); }
  CommandRange all() const { return {0, list.commands.size()}; }
  Submission submission() { return {list, all(), control, counters}; }
};

class QueueConformance : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device)
      queue = makeQueue();
  }
  void *queue = nullptr;
};

// Of devices that have what is tested.
class ControlFlowConformance : public QueueConformance {};
class TwoDevicesConformance : public QueueConformance {
protected:
  void SetUp() override {
    QueueConformance::SetUp();
    if (device && ops().count() < 2)
      GTEST_SKIP() << "the machine has one " << ops().type;
  }
};
class GraphsConformance : public QueueConformance {};
class TensorMapsConformance : public QueueConformance {};

TEST_P(QueueConformance, CopiesInWithinAndOut) {
  for (size_t size : {size_t(1), size_t(63), size_t(100000)}) {
    std::vector<uint8_t> in = pattern(size), out(size);
    DeviceAddress a = allocate(size), b = allocate(size + 64);
    copyIn(queue, a, in);
    // Not from the start, either.
    ASSERT_TRUE(ops().copy(queue, CopyKind::Within, b + 64, a, size).ok());
    copyOut(queue, out, b + 64);
    ASSERT_TRUE(finish(queue));
    EXPECT_EQ(in, out);
  }
}

TEST_P(QueueConformance, CopiesToAndFromEveryOtherDevice) {
  std::vector<uint8_t> in = pattern(70000), between(in.size()), out(in.size());
  for (const DeviceOps *type : allDevices())
    for (uint32_t i = 0; i < type->count(); ++i) {
      OpenDevice other;
      other.open(*type, i);
      void *queueThere = other.makeQueue();
      DeviceAddress here = allocate(in.size()),
                    there = other.allocate(in.size()),
                    back = allocate(in.size());
      copyIn(queue, here, in);
      ASSERT_TRUE(
          ops().readBack(queue, here, between.data(), between.size()).ok());
      other.copyIn(queueThere, there, between);
      std::fill(out.begin(), out.end(), 0);
      ASSERT_TRUE(
          other.ops().readBack(queueThere, there, out.data(), out.size()).ok());
      copyIn(queue, back, out);
      copyOut(queue, out, back);
      ASSERT_TRUE(finish(queue));
      EXPECT_EQ(in, out) << type->type << ":" << i;
    }
}

TEST_P(QueueConformance, ManySmallCopiesComeOutInOrder) {
  for (size_t size : {size_t(4), size_t(3000), size_t(70000)}) {
    constexpr unsigned count = 40;
    std::vector<std::vector<uint8_t>> in, out(count);
    std::vector<uint8_t> last(size), again(size);
    DeviceAddress a = allocate(size), b = allocate(size);
    for (unsigned i = 0; i < count; ++i)
      in.push_back(pattern(size, i));
    for (unsigned i = 0; i < count; ++i) {
      out[i].resize(size);
      copyIn(queue, a, in[i]);
      copyOut(queue, out[i], a);
      copyOut(queue, last, a);
    }
    // What came out goes in.
    copyIn(queue, b, last);
    copyOut(queue, again, b);
    ASSERT_TRUE(finish(queue));
    for (unsigned i = 0; i < count; ++i)
      EXPECT_EQ(in[i], out[i]) << i;
    EXPECT_EQ(last, in.back());
    EXPECT_EQ(again, in.back());
  }
}

TEST_P(QueueConformance, WhoIsBehindACopyOutFindsItThere) {
  std::vector<uint8_t> in = pattern(500), out(in.size());
  DeviceAddress a = allocate(in.size());
  void *second = makeQueue(), *event = makeEvent(), *after = makeEvent();
  for (unsigned round = 0; round < 3; ++round) {
    in = pattern(in.size(), round);
    copyIn(queue, a, in);
    copyOut(queue, out, a);
    ASSERT_TRUE(ops().record(queue, event).ok());
    ASSERT_TRUE(ops().waitFor(second, event).ok());
    ASSERT_TRUE(ops().record(second, after).ok());
    bool came = false;
    ASSERT_TRUE(ops().wait(after, UINT64_MAX, &came).ok());
    EXPECT_EQ(in, out);
    ASSERT_TRUE(finish(queue));
  }
}

TEST_P(QueueConformance, TheHostSeesSharedMemoryOnly) {
  // What it does not see, guard's tests would not let it see.
  std::vector<uint8_t> in = pattern(256);
  DeviceAddress a = allocate(in.size());
  copyIn(queue, a, in);
  ASSERT_TRUE(finish(queue));
  if (ops().memory != MemoryKind::Device)
    EXPECT_EQ(std::memcmp(a.pointer(), in.data(), in.size()), 0);
}

TEST_P(QueueConformance, WhatAQueueIsGivenRunsInOrder) {
  constexpr uint64_t size = 3 << 20;
  std::vector<uint8_t> in = pattern(size), out(size);
  for (uint32_t workers : {1u, 3u}) {
    void *own = makeQueue(workers);
    DeviceAddress a = allocate(size), b = allocate(size), c = allocate(size);
    Copies copies;
    copies.add(a, b, size);
    copies.barrier();
    copies.add(b, c, size);
    for (unsigned round = 0; round < 3; ++round) {
      in = pattern(size, round);
      copyIn(own, a, in);
      ASSERT_TRUE(ops().submit(own, copies.submission()).ok());
      ASSERT_TRUE(ops().readBack(own, c, out.data(), size).ok());
      uint32_t command;
      int32_t code;
      EXPECT_FALSE(copies.control.failed(command, code));
      EXPECT_EQ(in, out);
    }
  }
}

TEST_P(QueueConformance, AnEmptyListAndACancelledOneEnd) {
  void *own = makeQueue(2);
  DeviceAddress memory = allocate(128);
  std::vector<uint8_t> in = pattern(128), out(128);
  copyIn(own, memory, in);
  Copies empty, cancelled;
  EXPECT_TRUE(ops().submit(own, empty.submission()).ok());
  cancelled.barrier();
  cancelled.add(memory, memory + 64, 64);
  cancelled.barrier();
  cancelled.control.cancel();
  EXPECT_TRUE(ops().submit(own, cancelled.submission()).ok());
  ASSERT_TRUE(ops().readBack(own, memory, out.data(), out.size()).ok());
  EXPECT_EQ(in, out);
}

TEST_P(QueueConformance, CopiesMoveByTheCountersAtTheTime) {
  // Row after row of a to b backwards: a submission each, without a wait.
  constexpr int64_t row = 64, rows = 4;
  std::vector<uint8_t> in = pattern(row * rows), out(row * rows);
  DeviceAddress a = allocate(in.size()), b = allocate(in.size());
  copyIn(queue, a, in);
  Copies copies;
  Command &moving = copies.add(a, b + row * (rows - 1), row);
  moving.loop = 1;
  moving.strides[0] = row;
  moving.strides[1] = -row;
  for (int64_t i = 0; i < rows; ++i) {
    copies.counters.values[1] = i;
    ASSERT_TRUE(ops().submit(queue, copies.submission()).ok());
  }
  ASSERT_TRUE(ops().readBack(queue, b, out.data(), out.size()).ok());
  for (int64_t i = 0; i < rows; ++i)
    EXPECT_TRUE(std::equal(in.begin() + i * row, in.begin() + (i + 1) * row,
                           out.begin() + (rows - 1 - i) * row));
}

TEST_P(ControlFlowConformance, FollowsConditionsAndLoops) {
  // Row after row of a to b backwards, four times; then b's first row to c if
  // the byte of a is set, else b's second row.
  constexpr int64_t row = 64, rows = 4;
  for (bool isSet : {false, true})
    for (uint32_t workers : {1u, 3u}) {
      void *own = makeQueue(workers);
      std::vector<uint8_t> in = pattern(row * rows), out(row * rows), last(row);
      in[0] = isSet;
      DeviceAddress a = allocate(in.size()), b = allocate(in.size()),
                    c = allocate(row);
      copyIn(own, a, in);
      Copies copies;
      CommandList &list = copies.list;
      auto control = [&](Command::Kind kind, int64_t extent, uint32_t target) {
        list.commands.push_back(command(kind, Command::none, extent, target));
        list.commands.back().loop = 0;
      };
      list.structured = true;
      control(Command::LoopEnter, 0, 0);
      control(Command::LoopTest, rows, 4);
      Command &moving = copies.add(a, b + row * (rows - 1), row);
      moving.loop = 0;
      moving.strides[0] = row;
      moving.strides[1] = -row;
      control(Command::LoopNext, 0, 1);
      control(Command::Branch, 0, 7);
      list.commands.back().firstPointer = 0; // a
      copies.add(b, c, row);
      control(Command::Jump, 0, 8);
      copies.add(b + row, c, row);
      for (int round = 0; round < 3; ++round) {
        Sequencer sequencer(list, copies.control);
        ASSERT_TRUE(ops().follow(own, sequencer).ok());
      }
      copyOut(own, out, b);
      copyOut(own, last, c);
      ASSERT_TRUE(finish(own));
      for (int64_t i = 0; i < rows; ++i)
        EXPECT_TRUE(std::equal(in.begin() + i * row, in.begin() + (i + 1) * row,
                               out.begin() + (rows - 1 - i) * row));
      EXPECT_TRUE(std::equal(last.begin(), last.end(),
                             out.begin() + (isSet ? 0 : row)));
    }
}

TEST_P(QueueConformance, AnEventThatWasNotRecordedHasCome) {
  bool came = false;
  void *event = makeEvent();
  ASSERT_TRUE(ops().wait(event, UINT64_MAX, &came).ok());
  EXPECT_TRUE(came);
  ASSERT_TRUE(ops().waitFor(queue, event).ok());
  EXPECT_TRUE(finish(queue));
}

/// Work of some milliseconds at least.
void addMuchWork(Copies &copies, DeviceAddress a, DeviceAddress b,
                 uint64_t size) {
  for (int i = 0; i < 200; ++i) {
    copies.add(a, b, size);
    copies.barrier();
    copies.add(b, a, size);
    copies.barrier();
  }
}

TEST_P(QueueConformance, SubmissionsReturnEarlyWhereTheDeviceSaysSo) {
  constexpr uint64_t size = 1 << 20;
  std::vector<uint8_t> in = pattern(size);
  DeviceAddress a = allocate(size), b = allocate(size);
  copyIn(queue, a, in);
  Copies copies;
  addMuchWork(copies, a, b, size);
  void *event = makeEvent();
  bool came = true, cameLater = true;
  // On a busy machine this thread may be away for longer than work takes.
  for (int times = 1; (came || cameLater) && times <= 32; times *= 2) {
    for (int i = 0; i < times; ++i)
      ASSERT_TRUE(ops().submit(queue, copies.submission()).ok());
    ASSERT_TRUE(ops().record(queue, event).ok());
    ASSERT_TRUE(ops().wait(event, 0, &came).ok());
    ASSERT_TRUE(ops().wait(event, 1000, &cameLater).ok());
    if (!ops().returnsEarly)
      break;
  }
  EXPECT_NE(came, ops().returnsEarly);
  EXPECT_NE(cameLater, ops().returnsEarly);
  ASSERT_TRUE(ops().wait(event, UINT64_MAX, &came).ok());
  EXPECT_TRUE(came);
  // Once come, it stays so until it is recorded again.
  ASSERT_TRUE(ops().wait(event, 0, &came).ok());
  EXPECT_TRUE(came);
}

TEST_P(QueueConformance, OneQueueWaitsForAnother) {
  constexpr uint64_t size = 1 << 20;
  std::vector<uint8_t> in = pattern(size), out(size);
  DeviceAddress a = allocate(size), b = allocate(size), c = allocate(size);
  void *second = makeQueue();
  void *event = makeEvent();
  for (unsigned round = 0; round < 3; ++round) {
    in = pattern(size, round);
    copyIn(queue, a, in);
    Copies slow;
    addMuchWork(slow, a, b, size);
    ASSERT_TRUE(ops().submit(queue, slow.submission()).ok());
    // What the second copies is there only after that.
    ASSERT_TRUE(ops().copy(queue, CopyKind::Within, c, a, size).ok());
    ASSERT_TRUE(ops().record(queue, event).ok());
    ASSERT_TRUE(ops().waitFor(second, event).ok());
    ASSERT_TRUE(ops().readBack(second, c, out.data(), size).ok());
    EXPECT_EQ(in, out);
    ASSERT_TRUE(finish(queue));
  }
}

TEST_P(TwoDevicesConformance, QueuesOfTwoDevicesOfATypeWaitForEachOther) {
  OpenDevice other;
  other.open(ops(), 1);
  void *there = other.makeQueue();
  std::vector<uint8_t> in = pattern(1 << 20), out(in.size());
  DeviceAddress a = allocate(in.size()), b = other.allocate(in.size());
  void *event = makeEvent();
  copyIn(queue, a, in);
  copyOut(queue, out, a);
  ASSERT_TRUE(ops().record(queue, event).ok());
  ASSERT_TRUE(ops().waitFor(there, event).ok());
  other.copyIn(there, b, out);
  std::vector<uint8_t> back(in.size());
  ASSERT_TRUE(ops().readBack(there, b, back.data(), back.size()).ok());
  EXPECT_EQ(in, back);
}

TEST_P(QueueConformance, DestroyingAQueueFinishesItsWork) {
  constexpr uint64_t size = 1 << 20;
  std::vector<uint8_t> in = pattern(size), out(size), few(100);
  DeviceAddress a = allocate(size), b = allocate(size);
  copyIn(queue, a, in);
  ASSERT_TRUE(finish(queue));
  QueueOptions options = {};
  options.workers = 1;
  void *own = nullptr;
  ASSERT_TRUE(ops().createQueue(state(), options, &own).ok());
  Copies copies;
  addMuchWork(copies, a, b, size);
  ASSERT_TRUE(ops().submit(own, copies.submission()).ok());
  copyOut(own, out, b);
  copyOut(own, few, b);
  ops().destroyQueue(own);
  EXPECT_EQ(in, out);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), in.begin()));
}

TEST_P(GraphsConformance, AGraphDoesWhatASubmissionDoes) {
  constexpr uint64_t size = 4096;
  DeviceAddress a = allocate(size), b = allocate(size), c = allocate(size);
  std::vector<uint8_t> in, submitted(size), launched(size);
  void *graph = nullptr;
  RunControl control;
  {
    // A part of a list, which is gone when the graph is launched.
    Copies copies;
    copies.add(c, a, size);
    copies.barrier();
    copies.add(a, b, size);
    copies.barrier();
    copies.add(b, c, size);
    in = pattern(size, 7);
    copyIn(queue, a, in);
    ASSERT_TRUE(
        ops()
            .submit(queue,
                    {copies.list, {2, 5}, copies.control, copies.counters})
            .ok());
    ASSERT_TRUE(ops().readBack(queue, c, submitted.data(), size).ok());
    EXPECT_EQ(in, submitted);
    ASSERT_TRUE(ops().capture(queue, copies.list, {2, 5}, &graph).ok());
  }
  if (!graph)
    GTEST_SKIP() << "its driver has no graphs";
  for (unsigned round = 0; round < 3; ++round) {
    in = pattern(size, round);
    copyIn(queue, a, in);
    ASSERT_TRUE(ops().launch(queue, graph, control).ok());
    ASSERT_TRUE(ops().readBack(queue, c, launched.data(), size).ok());
    EXPECT_EQ(in, launched);
  }
  // Cancelled like a submission.
  control.cancel();
  std::vector<uint8_t> other = pattern(size, 99);
  copyIn(queue, a, other);
  ASSERT_TRUE(ops().launch(queue, graph, control).ok());
  ASSERT_TRUE(ops().readBack(queue, c, launched.data(), size).ok());
  EXPECT_EQ(in, launched);
  ops().destroyGraph(graph);
}

TEST_P(TensorMapsConformance, EncodesTensorMapsByAddressAndSizes) {
  TensorMap map = {};
  map.elementType = ASHLAR_TYPE_F32;
  map.rank = 2;
  map.sizes[0] = 64, map.sizes[1] = 16;
  map.strides[0] = 4, map.strides[1] = 256;
  map.box[0] = 32, map.box[1] = 8;
  map.steps[0] = map.steps[1] = 1;
  DeviceAddress a = allocate(64 * 16 * 4), b = allocate(64 * 16 * 4);
  CommandList::Blob tried = {};
  if (Status status = ops().encode(state(), map, a, &tried);
      status.code() == ASHLAR_UNSUPPORTED)
    GTEST_SKIP() << status.message();
  auto encoded = [&](const TensorMap &of, DeviceAddress at) {
    CommandList::Blob blob = {};
    EXPECT_TRUE(ops().encode(state(), of, at, &blob).ok());
    return std::string(reinterpret_cast<char *>(blob.bytes),
                       sizeof(blob.bytes));
  };
  std::string first = encoded(map, a);
  EXPECT_EQ(first, encoded(map, a));
  EXPECT_NE(first, encoded(map, b));
  EXPECT_NE(first, encoded(map, a + 1024));
  map.sizes[1] = 15;
  EXPECT_NE(first, encoded(map, a));
}

std::string nameOf(const testing::TestParamInfo<const DeviceOps *> &info) {
  return ashlar::test::nameOf(*info.param);
}
std::vector<const DeviceOps *> those(bool (*have)(const DeviceOps &)) {
  std::vector<const DeviceOps *> list;
  for (const DeviceOps *ops : allDevices())
    if (have(*ops))
      list.push_back(ops);
  return list;
}
INSTANTIATE_TEST_SUITE_P(All, QueueConformance, testing::ValuesIn(allDevices()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(All, ControlFlowConformance,
                         testing::ValuesIn(those([](const DeviceOps &ops) {
                           return ops.follow != nullptr;
                         })),
                         nameOf);
// The others are done whenever a call returns: nobody waits.
INSTANTIATE_TEST_SUITE_P(All, TwoDevicesConformance,
                         testing::ValuesIn(those([](const DeviceOps &ops) {
                           return ops.returnsEarly;
                         })),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(All, GraphsConformance,
                         testing::ValuesIn(those([](const DeviceOps &ops) {
                           return ops.capture != nullptr;
                         })),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(All, TensorMapsConformance,
                         testing::ValuesIn(those([](const DeviceOps &ops) {
                           return ops.encode != nullptr;
                         })),
                         nameOf);

} // namespace

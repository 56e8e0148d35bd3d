// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device that conformance tests have opened, and what they do with it.

#ifndef ASHLAR_RUNTIME_CONFORMANCE_OPENDEVICE_H
#define ASHLAR_RUNTIME_CONFORMANCE_OPENDEVICE_H

#include "devices/Device.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ashlar::test {

inline runtime::Command command(runtime::Command::Kind kind,
                                uint32_t firstPointer = 0, int64_t extent = 0,
                                uint32_t target = 0) {
  runtime::Command command = {};
  command.kind = kind;
  command.firstPointer = firstPointer;
  command.extent = extent;
  command.target = target;
  command.loop = command.launch = runtime::Command::none;
  return command;
}

/// Memory, a queue and an event are given back when it ends.
class OpenDevice {
public:
  using Address = runtime::DeviceAddress;
  using CopyKind = runtime::CopyKind;

  ~OpenDevice() {
    for (void *queue : queues)
      ops().destroyQueue(queue);
    for (void *event : events)
      ops().destroyEvent(event);
    for (const auto &block : blocks)
      ops().free(state(), block.first, block.second);
  }
  void open(const runtime::DeviceOps &of, uint32_t ordinal) {
    device = std::make_unique<ashlar_device_t>(
        of, runtime::concat(of.type, ":", ordinal));
    ASSERT_TRUE(device->open(ordinal).ok());
  }
  const runtime::DeviceOps &ops() const { return device->ops; }
  void *state() const { return device->state; }

  Address allocate(uint64_t size) {
    Address address;
    EXPECT_TRUE(
        ops().allocate(state(), size, ASHLAR_MEMORY_ARENA, &address).ok());
    blocks.push_back({address, size});
    return address;
  }
  void *makeQueue(uint32_t workers = 1) {
    runtime::QueueOptions options = {};
    options.workers = workers;
    void *queue = nullptr;
    EXPECT_TRUE(ops().createQueue(state(), options, &queue).ok());
    queues.push_back(queue);
    return queue;
  }
  void *makeEvent() {
    void *event = nullptr;
    EXPECT_TRUE(ops().createEvent(state(), &event).ok());
    events.push_back(event);
    return event;
  }
  template <typename T>
  void copyIn(void *queue, Address to, const std::vector<T> &from) {
    ASSERT_TRUE(ops()
                    .copy(queue, CopyKind::In, to,
                          {const_cast<T *>(from.data()), 0},
                          from.size() * sizeof(T))
                    .ok());
  }
  // What is copied stays until the queue has finished.
  template <typename T>
  void copyIn(void *queue, Address to, const std::vector<T> &&from) = delete;
  template <typename T>
  void copyOut(void *queue, std::vector<T> &to, Address from) {
    ASSERT_TRUE(ops()
                    .copy(queue, CopyKind::Out, {to.data(), 0}, from,
                          to.size() * sizeof(T))
                    .ok());
  }
  /// Whether all that the queue was given is finished in time.
  bool finish(void *queue, uint64_t timeout = UINT64_MAX) {
    if (!finished)
      finished = makeEvent();
    bool came = false;
    EXPECT_TRUE(ops().record(queue, finished).ok());
    EXPECT_TRUE(ops().wait(finished, timeout, &came).ok());
    return came;
  }

  std::unique_ptr<ashlar_device_t> device;

private:
  std::vector<void *> queues, events;
  std::vector<std::pair<Address, uint64_t>> blocks;
  void *finished = nullptr;
};

/// What tests on it are called, in letters.
inline std::string nameOf(const runtime::DeviceOps &ops) {
  std::string name = ops.type;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

/// The first device of a type, skipped where the machine has none.
class DeviceTest : public testing::TestWithParam<const runtime::DeviceOps *>,
                   protected OpenDevice {
protected:
  void SetUp() override {
    if (GetParam()->count() == 0)
      GTEST_SKIP() << "the machine has no " << GetParam()->type;
    open(*GetParam(), 0);
  }
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_CONFORMANCE_OPENDEVICE_H

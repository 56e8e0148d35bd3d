// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a caller's for a tensor, on whichever device.

#ifndef ASHLAR_RUNTIME_TEST_PLACE_H
#define ASHLAR_RUNTIME_TEST_PLACE_H

#include "Loaded.h"
#include "devices/Device.h"

namespace ashlar::test {

/// A tensor's memory on a device, which a queue of the test's own fills and
/// reads; without a device, the host's.
class Place {
public:
  Place(ashlar_device_t *device, size_t count, uint64_t offset)
      : device(device), count(count), offset(offset),
        own(count, size_t(offset)) {
    if (!device)
      return;
    runtime::QueueOptions alone = {};
    alone.workers = 1;
    EXPECT_TRUE(ops().createQueue(device->state, alone, &queue).ok());
    EXPECT_TRUE(ops()
                    .allocate(device->state, bytes() + offset,
                              ASHLAR_MEMORY_OUTPUTS, &memory)
                    .ok());
  }
  Place(const Place &) = delete;
  ~Place() {
    if (!device)
      return;
    ops().destroyQueue(queue);
    ops().free(device->state, memory, bytes() + offset);
  }
  void fill(const std::vector<float> &from) {
    if (!device) {
      std::copy(from.begin(), from.end(), own.data());
      return;
    }
    char last;
    EXPECT_TRUE(ops()
                    .copy(queue, runtime::CopyKind::In, memory + offset,
                          {const_cast<float *>(from.data()), 0}, bytes())
                    .ok());
    EXPECT_TRUE(ops().readBack(queue, memory + offset, &last, 1).ok()); // waits
  }
  std::vector<float> read() {
    std::vector<float> to(own.data(), own.data() + count);
    if (device)
      EXPECT_TRUE(
          ops().readBack(queue, memory + offset, to.data(), bytes()).ok());
    return to;
  }
  ashlar_tensor_t tensor(const std::vector<int64_t> &shape) {
    ashlar_tensor_t result = tensorOf(own.data(), int64_t(count));
    if (device)
      result.data = (memory + offset).pointer();
    result.device = device;
    result.rank = uint32_t(shape.size());
    std::copy(shape.begin(), shape.end(), result.shape);
    return result;
  }

private:
  const runtime::DeviceOps &ops() { return device->ops; }
  uint64_t bytes() const { return count * sizeof(float); }

  ashlar_device_t *const device;
  const size_t count;
  const uint64_t offset;
  Floats own;
  void *queue = nullptr;
  runtime::DeviceAddress memory;
};

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_PLACE_H

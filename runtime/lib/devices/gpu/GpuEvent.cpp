// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuQueue.h"

namespace ashlar::runtime {

using namespace gpu;

Status GpuEvent::create() {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  return device.check(&device.api.EventCreate,
                      device.api.EventCreate(&event, GpuDevice::withoutTiming));
}

GpuEvent::~GpuEvent() {
  CurrentGpu current(device);
  if (current && event)
    device.api.EventDestroy(event);
}

Status GpuEvent::wait(uint64_t timeoutNanoseconds, bool *outCame) {
  *outCame = true;
  uint64_t seen, copied;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!queue)
      return {};
    seen = launches;
    copied = copies;
  }
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  ASHLAR_RETURN_IF_ERROR(
      queue->check(device.await(event, timeoutNanoseconds, *outCame)));
  if (!*outCame)
    return {};
  queue->copies.deliver(copied);
  return queue->lookAtFault(seen);
}

} // namespace ashlar::runtime

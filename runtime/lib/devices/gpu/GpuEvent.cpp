// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Clock.h"
#include "GpuQueue.h"

#include <chrono>
#include <thread>

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

Status GpuEvent::await(uint64_t timeoutNanoseconds, bool &came) const {
  const Functions &api = device.api;
  came = true;
  if (timeoutNanoseconds == UINT64_MAX)
    return queue->check(&device.api.EventSynchronize,
                        api.EventSynchronize(event));
  uint64_t start = monotonicTime();
  // Nobody who hurries waits with a limit, so it is enough to look in.
  for (uint64_t pause = 10;; pause = pause < 500 ? 2 * pause : pause) {
    Code code = api.EventQuery(event);
    came = code == 0;
    if (!came && device.driver.causeOf(code) != Cause::NotReady)
      return queue->check(&device.api.EventQuery, code);
    if (came || monotonicTime() - start >= timeoutNanoseconds)
      return {};
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
  }
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
  ASHLAR_RETURN_IF_ERROR(await(timeoutNanoseconds, *outCame));
  if (!*outCame)
    return {};
  queue->copies.deliver(copied);
  return queue->lookAtFault(seen);
}

} // namespace ashlar::runtime

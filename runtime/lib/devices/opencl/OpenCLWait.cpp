// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an OpenCL device is waited for. A driver's own waits end when the work
// does, which may be never: so it is asked whether an event has come, and who
// has asked for long enough takes the device for lost.

#include "../../Clock.h"
#include "OpenCLQueue.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ashlar::runtime {

using namespace opencl;

/// What takes no longer is seen at once; others may need the processor.
static constexpr uint64_t yieldNanoseconds = 100'000;
/// Beyond that, nobody waits longer than by such a part of the whole.
static constexpr uint64_t pauseParts = 64;
static constexpr uint64_t mostPause = 1'000'000; // nanoseconds

Code OpenCLDevice::await(EventId event, uint64_t timeoutNanoseconds, bool &came,
                         const char *&call) const {
  const uint64_t begin = monotonicTime();
  while (true) {
    Code state = 0;
    const Code code = cl.GetEventInfo(event, eventExecutionStatus,
                                      sizeof(state), &state, nullptr);
    // It has the code of what it stands behind.
    call = state < 0 ? "a command" : "clGetEventInfo";
    came = code == 0 && state == 0;
    if (state < 0 || code != 0 || came)
      return state < 0 ? state : code;
    const uint64_t waited = monotonicTime() - begin;
    if (waited >= mostWait)
      silent = true;
    if (silent || waited >= timeoutNanoseconds)
      return 0;
    if (waited < yieldNanoseconds)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::nanoseconds(
          std::min({waited / pauseParts, mostPause, mostWait - waited,
                    timeoutNanoseconds - waited})));
  }
}

Status OpenCLDevice::silence() const {
  return failure(
      ASHLAR_DEVICE_LOST,
      concat(name, " has not ended what it was given within ",
             mostWait / 1'000'000,
             " ms, the longest that one waits for it (device_wait_ns of the "
             "runtime's options); the device is lost, and what it may still "
             "use stays with it: end the process when you can"),
      name);
}

Status OpenCLQueue::waitForAll() {
  if (device.isSilent())
    return device.silence();
  EventId marker = nullptr;
  const char *call = "clEnqueueMarkerWithWaitList";
  Code code = cl.EnqueueMarkerWithWaitList(queue, 0, nullptr, &marker);
  if (code == 0) {
    call = "clFlush";
    code = cl.Flush(queue);
  }
  bool came = false;
  if (code == 0)
    code = device.await(marker, UINT64_MAX, came, call);
  if (marker)
    cl.ReleaseEvent(marker);
  if (code == 0 && !came)
    return device.silence();
  mayHang = false;
  if (code == 0)
    return {};
  // A driver that cannot be asked has given up, but for what still runs.
  cl.Finish(queue);
  return device.failed(call, code);
}

} // namespace ashlar::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Trace.h"
#include "OpenCLQueue.h"

#include <chrono>
#include <thread>

namespace ashlar::runtime {

using namespace opencl;

OpenCLEvent::~OpenCLEvent() {
  if (marker)
    device.cl.ReleaseEvent(marker);
}

EventId OpenCLEvent::take(OpenCLQueue *&outQueue, uint64_t &outLaunches) {
  std::lock_guard<std::mutex> lock(mutex);
  outQueue = queue;
  outLaunches = launches;
  if (marker)
    device.cl.RetainEvent(marker);
  return marker;
}

/// Negative also where what the marker stands behind has failed.
Code OpenCLEvent::await(EventId marker, uint64_t timeoutNanoseconds,
                        bool &came) const {
  const Functions &cl = device.cl;
  Code waited = 0;
  if (timeoutNanoseconds == UINT64_MAX)
    waited = cl.WaitForEvents(1, &marker);
  uint64_t start = Trace::now();
  // Nobody who hurries waits with a limit, so it is enough to look in.
  for (uint64_t pause = 10;; pause = pause < 500 ? 2 * pause : pause) {
    Code state = 0;
    Code code = cl.GetEventInfo(marker, eventExecutionStatus, sizeof(state),
                                &state, nullptr);
    came = code != 0 || waited != 0 || state <= 0;
    if (code == 0 && state < 0)
      return state;
    if (code != 0 || waited != 0)
      return waited != 0 ? waited : code;
    if (came || (timeoutNanoseconds != UINT64_MAX &&
                 Trace::now() - start >= timeoutNanoseconds))
      return 0;
    std::this_thread::sleep_for(std::chrono::microseconds(pause));
  }
}

Status OpenCLEvent::wait(uint64_t timeoutNanoseconds, bool *outCame) {
  OpenCLQueue *from;
  uint64_t seen;
  EventId taken = take(from, seen);
  *outCame = true;
  if (!taken)
    return {};
  Code code = await(taken, timeoutNanoseconds, *outCame);
  device.cl.ReleaseEvent(taken);
  ASHLAR_RETURN_IF_ERROR(from->check("clWaitForEvents", code));
  return *outCame ? from->lookAtFault(seen) : Status();
}

Status OpenCLQueue::record(OpenCLEvent &event) {
  bool hasLaunched;
  uint64_t seen;
  {
    std::lock_guard<std::mutex> lock(mutex);
    hasLaunched = control != nullptr;
    seen = launches;
  }
  EventId marker = nullptr;
  // Reading the fault is a marker as well.
  if (hasLaunched)
    ASHLAR_RETURN_IF_ERROR(check("clEnqueueReadBuffer", readFault(&marker)));
  else
    ASHLAR_RETURN_IF_ERROR(
        check("clEnqueueMarkerWithWaitList",
              cl.EnqueueMarkerWithWaitList(queue, 0, nullptr, &marker)));
  {
    std::lock_guard<std::mutex> lock(event.mutex);
    std::swap(event.marker, marker);
    event.queue = this;
    event.launches = seen;
  }
  if (marker)
    cl.ReleaseEvent(marker);
  return check("clFlush", cl.Flush(queue));
}

Status OpenCLQueue::waitFor(OpenCLEvent &event) {
  // Drivers wait for events of their own context only.
  if (event.device.context != device.context) {
    bool came;
    return event.wait(UINT64_MAX, &came);
  }
  OpenCLQueue *from;
  uint64_t seen;
  EventId taken = event.take(from, seen);
  if (!taken)
    return {};
  Code code = cl.EnqueueBarrierWithWaitList(queue, 1, &taken, nullptr);
  cl.ReleaseEvent(taken);
  return check("clEnqueueBarrierWithWaitList", code);
}

} // namespace ashlar::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Clock.h"
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

/// Where something fails, `call` is what.
Code OpenCLEvent::await(EventId marker, uint64_t timeoutNanoseconds, bool &came,
                        const char *&call) const {
  const Functions &cl = device.cl;
  bool isForever = timeoutNanoseconds == UINT64_MAX;
  Code waited = isForever ? cl.WaitForEvents(1, &marker) : 0;
  uint64_t start = monotonicTime();
  // Nobody who hurries waits with a limit, so it is enough to look in.
  for (uint64_t pause = 10;; pause = pause < 500 ? 2 * pause : pause) {
    Code state = 0;
    Code code = cl.GetEventInfo(marker, eventExecutionStatus, sizeof(state),
                                &state, nullptr);
    // It has the code of what it stands behind; who waits, a general one.
    call = "a command";
    if (state < 0)
      return state;
    call = waited != 0 ? "clWaitForEvents" : "clGetEventInfo";
    if (waited != 0 || code != 0)
      return waited != 0 ? waited : code;
    came = state == 0;
    if (came || (!isForever && monotonicTime() - start >= timeoutNanoseconds))
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
  const char *call;
  Code code = await(taken, timeoutNanoseconds, *outCame, call);
  device.cl.ReleaseEvent(taken);
  ASHLAR_RETURN_IF_ERROR(from->check(call, code));
  return *outCame ? from->lookAtFault(seen) : Status();
}

Status OpenCLQueue::record(OpenCLEvent &event) {
  bool hasLaunched;
  uint64_t seen = pending.soFar(hasLaunched);
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

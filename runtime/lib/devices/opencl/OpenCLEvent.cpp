// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLQueue.h"

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

Status OpenCLEvent::wait(uint64_t timeoutNanoseconds, bool *outCame) {
  OpenCLQueue *from;
  uint64_t seen;
  EventId taken = take(from, seen);
  *outCame = true;
  if (!taken)
    return {};
  const char *call;
  Code code = device.await(taken, timeoutNanoseconds, *outCame, call);
  device.cl.ReleaseEvent(taken);
  ASHLAR_RETURN_IF_ERROR(from->check(call, code));
  if (!*outCame && device.isSilent())
    return from->lose(device.silence());
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
  mayHang = true;
  Code code = cl.EnqueueBarrierWithWaitList(queue, 1, &taken, nullptr);
  cl.ReleaseEvent(taken);
  return check("clEnqueueBarrierWithWaitList", code);
}

} // namespace ashlar::runtime

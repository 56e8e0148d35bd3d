// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLQueue.h"

namespace ashlar::runtime {

using namespace opencl;

static const uint32_t noFault[ASHLAR_OPENCL_STATUS_WORDS] = {};

Status OpenCLQueue::start() {
  Code code = 0;
  queue = cl.CreateCommandQueue(device.context, device.id, 0, &code);
  if (!queue)
    return device.failed("clCreateCommandQueue", code);
  fault = cl.CreateBuffer(device.context, memReadWrite | memCopy,
                          sizeof(noFault), noFault, &code);
  return fault ? Status()
               : device.lacksMemory("clCreateBuffer", code, sizeof(noFault));
}

/// Drivers may take longer for queues whose events know when they ran, so there
/// is such a one from the first trace on.
Status OpenCLQueue::profile(bool wanted) {
  if (isProfiled == wanted)
    return {};
  ASHLAR_RETURN_IF_ERROR(finish());
  Code code = 0;
  if (!other)
    other =
        cl.CreateCommandQueue(device.context, device.id, queueProfiling, &code);
  if (!other)
    return device.failed("clCreateCommandQueue", code);
  // Who waits for an event of before may still ask the one of before.
  other = queue.exchange(other);
  isProfiled = wanted;
  return {};
}

OpenCLQueue::~OpenCLQueue() {
  if (fault)
    (void)finish();
  for (const OwnKernel &each : kernels)
    cl.ReleaseKernel(each.object);
  if (fault)
    cl.ReleaseMemObject(fault);
  for (CommandQueue each : {queue.load(), other})
    if (each)
      cl.ReleaseCommandQueue(each);
}

/// What is under way ends first: the caller takes its memory back. Nobody looks
/// for faults any more.
Status OpenCLQueue::lose(const char *call, Code code) {
  pending.drop();
  cl.Finish(queue);
  return device.failed(call, code);
}

Status OpenCLQueue::copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
                         uint64_t size) {
  if (size == 0)
    return {};
  switch (kind) {
  case CopyKind::In:
    return check(device.memory.write(queue, to, from.pointer(), size));
  case CopyKind::Out:
    return check(device.memory.read(queue, to.pointer(), from, size,
                                    /*isBlocking=*/false));
  default:
    return check(copyWithin(to, from, size));
  }
}

OpenCLMemory::Called
OpenCLQueue::copyWithin(DeviceAddress to, DeviceAddress from, uint64_t size) {
  // Drivers refuse both of these; ranges overlap in no other way.
  if (size == 0 || to == from)
    return {"", 0};
  return device.memory.copy(queue, to, from, size);
}

Code OpenCLQueue::readFault(EventId *outMarker) {
  return cl.EnqueueReadBuffer(queue, fault, false, 0, sizeof(seenFault),
                              seenFault, 0, nullptr, outMarker);
}

/// After a read of the fault that came behind so many launches.
Status OpenCLQueue::lookAtFault(uint64_t seenLaunches) {
  if (!pending.tell(seenLaunches, seenFault))
    return {};
  return check("clEnqueueWriteBuffer",
               cl.EnqueueWriteBuffer(queue, fault, false, 0, sizeof(noFault),
                                     noFault, 0, nullptr, nullptr));
}

Status OpenCLQueue::readBack(DeviceAddress from, void *host, uint64_t size) {
  bool hasLaunched;
  uint64_t seen = pending.soFar(hasLaunched);
  if (hasLaunched)
    ASHLAR_RETURN_IF_ERROR(check("clEnqueueReadBuffer", readFault(nullptr)));
  if (size != 0)
    ASHLAR_RETURN_IF_ERROR(check(device.memory.read(queue, host, from, size,
                                                    /*isBlocking=*/true)));
  else
    ASHLAR_RETURN_IF_ERROR(check("clFinish", cl.Finish(queue)));
  return lookAtFault(seen);
}

Status OpenCLQueue::finish() { return readBack({}, nullptr, 0); }

} // namespace ashlar::runtime

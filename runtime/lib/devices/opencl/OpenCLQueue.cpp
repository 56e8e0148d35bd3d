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
Status OpenCLQueue::startProfiling() {
  if (unprofiled)
    return {};
  ASHLAR_RETURN_IF_ERROR(finish());
  Code code = 0;
  CommandQueue other =
      cl.CreateCommandQueue(device.context, device.id, queueProfiling, &code);
  if (!other)
    return device.failed("clCreateCommandQueue", code);
  // Who waits for an event of before may still ask the first one.
  unprofiled = queue.exchange(other);
  return {};
}

OpenCLQueue::~OpenCLQueue() {
  if (fault)
    (void)finish();
  for (const OwnKernel &each : kernels)
    cl.ReleaseKernel(each.object);
  if (fault)
    cl.ReleaseMemObject(fault);
  for (CommandQueue each : {queue.load(), unprofiled})
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
    return check("clEnqueueWriteBuffer",
                 cl.EnqueueWriteBuffer(queue, memoryOf(to), false,
                                       size_t(to.offset), size_t(size),
                                       from.pointer(), 0, nullptr, nullptr));
  case CopyKind::Out:
    return check("clEnqueueReadBuffer",
                 cl.EnqueueReadBuffer(queue, memoryOf(from), false,
                                      size_t(from.offset), size_t(size),
                                      to.pointer(), 0, nullptr, nullptr));
  default:
    return check("clEnqueueCopyBuffer", copyWithin(to, from, size));
  }
}

Code OpenCLQueue::copyWithin(DeviceAddress to, DeviceAddress from,
                             uint64_t size) {
  // Drivers refuse both of these; ranges overlap in no other way.
  if (size == 0 || to == from)
    return 0;
  return cl.EnqueueCopyBuffer(queue, memoryOf(from), memoryOf(to),
                              size_t(from.offset), size_t(to.offset),
                              size_t(size), 0, nullptr, nullptr);
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
    ASHLAR_RETURN_IF_ERROR(check(
        "clEnqueueReadBuffer",
        cl.EnqueueReadBuffer(queue, memoryOf(from), true, size_t(from.offset),
                             size_t(size), host, 0, nullptr, nullptr)));
  else
    ASHLAR_RETURN_IF_ERROR(check("clFinish", cl.Finish(queue)));
  return lookAtFault(seen);
}

Status OpenCLQueue::finish() { return readBack({}, nullptr, 0); }

} // namespace ashlar::runtime

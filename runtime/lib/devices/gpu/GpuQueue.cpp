// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuQueue.h"

namespace ashlar::runtime {

using namespace gpu;

/// A stream that does not wait for the default one, which others may use.
static constexpr unsigned nonBlocking = 1;
static constexpr size_t faultBytes = ASHLAR_GPU_STATUS_WORDS * sizeof(uint32_t);

Status GpuQueue::start() {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  ASHLAR_RETURN_IF_ERROR(
      device.check(&api.StreamCreate, api.StreamCreate(&stream, nonBlocking)));
  ASHLAR_RETURN_IF_ERROR(
      device.check(&api.MemAlloc, api.MemAlloc(&fault, faultBytes)));
  void *host = nullptr;
  ASHLAR_RETURN_IF_ERROR(
      device.check(&api.HostAlloc, api.HostAlloc(&host, faultBytes, 0)));
  seenFault = static_cast<uint32_t *>(host);
  return device.check(&api.SetBytes,
                      api.SetBytes(fault, 0, faultBytes, stream));
}

GpuQueue::~GpuQueue() {
  CurrentGpu current(device);
  if (!current)
    return;
  if (stream)
    api.StreamSynchronize(stream);
  pending.drop();
  if (seenFault)
    api.HostFree(seenFault);
  if (fault)
    api.MemFree(fault);
  if (stream)
    api.StreamDestroy(stream);
}

/// What is under way ends first: the caller takes its memory back. Nobody looks
/// for faults any more.
Status GpuQueue::lose(const Status &cause) {
  pending.drop();
  api.StreamSynchronize(stream);
  return cause;
}

Status GpuQueue::copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
                      uint64_t size) {
  if (size == 0)
    return {};
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  void *target = to.pointer();
  const void *source = from.pointer();
  switch (kind) {
  case CopyKind::In:
    return check(&api.CopyIn, api.CopyIn(target, source, size_t(size), stream));
  case CopyKind::Out:
    return check(&api.CopyOut,
                 api.CopyOut(target, source, size_t(size), stream));
  default:
    return check(&api.CopyWithin,
                 api.CopyWithin(target, source, size_t(size), stream));
  }
}

Status GpuQueue::readFault() {
  return check(&api.CopyOut, api.CopyOut(seenFault, fault, faultBytes, stream));
}

/// After a read of the fault that came behind so many launches.
Status GpuQueue::lookAtFault(uint64_t seenLaunches) {
  if (!pending.tell(seenLaunches, seenFault))
    return {};
  return check(&api.SetBytes, api.SetBytes(fault, 0, faultBytes, stream));
}

Status GpuQueue::readBack(DeviceAddress from, void *host, uint64_t size) {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  bool isExpected;
  uint64_t seen = pending.soFar(isExpected);
  if (isExpected)
    ASHLAR_RETURN_IF_ERROR(readFault());
  if (size != 0)
    ASHLAR_RETURN_IF_ERROR(check(
        &api.CopyOut, api.CopyOut(host, from.pointer(), size_t(size), stream)));
  ASHLAR_RETURN_IF_ERROR(
      check(&api.StreamSynchronize, api.StreamSynchronize(stream)));
  return lookAtFault(seen);
}

Status GpuQueue::record(GpuEvent &event) {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  bool isExpected;
  uint64_t seen = pending.soFar(isExpected);
  if (isExpected)
    ASHLAR_RETURN_IF_ERROR(readFault());
  std::lock_guard<std::mutex> lock(event.mutex);
  event.queue = this;
  event.launches = seen;
  return check(&api.EventRecord, api.EventRecord(event.event, stream));
}

Status GpuQueue::waitFor(GpuEvent &event) {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  return check(&api.StreamWaitEvent,
               api.StreamWaitEvent(stream, event.event, 0));
}

} // namespace ashlar::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GpuQueue.h"

#include <cstring>

namespace ashlar::runtime {

using namespace gpu;

/// Of pinned memory: the fault's words, then what copies need.
static constexpr size_t copiesAt = 64;

Status GpuQueue::start() {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  ASHLAR_RETURN_IF_ERROR(openStream());
  static_assert(faultBytes <= GpuDevice::statusBytes);
  ASHLAR_RETURN_IF_ERROR(device.takeStatus(fault));
  void *host = nullptr;
  ASHLAR_RETURN_IF_ERROR(device.check(
      &api.HostAlloc, api.HostAlloc(&host, copiesAt + PinnedCopies::bytes, 0)));
  seenFault = static_cast<uint32_t *>(host);
  std::memset(seenFault, 0, faultBytes);
  copies.use(static_cast<char *>(host) + copiesAt);
  return device.check(&api.SetBytes,
                      api.SetBytes(fault, 0, faultBytes, stream));
}

/// That of the caller is one of this device's, which is not being captured.
Status GpuQueue::openStream() {
  if (!callers)
    return device.check(&api.StreamCreate,
                        api.StreamCreate(&stream, GpuDevice::nonBlocking));
  Code code = api.StreamQuery(callers);
  if (code != 0 && device.driver.causeOf(code) != Cause::NotReady)
    return device.failed(&api.StreamQuery, code);
  stream = callers;
  return {};
}

GpuQueue::~GpuQueue() {
  CurrentGpu current(device);
  if (!current)
    return;
  const uint64_t copied = copies.given();
  if (stream && device.finish(stream).ok())
    copies.deliver(copied);
  pending.drop();
  // What the driver has not ended may still use all of it, for ever.
  if (device.isSilent())
    return;
  uploads.close();
  if (seenFault)
    api.HostFree(seenFault);
  if (fault)
    device.giveStatus(fault);
  if (stream && !callers)
    api.StreamDestroy(stream);
}

/// What is under way ends first, if it ever does: the caller takes its memory
/// back. Nobody looks for faults any more.
Status GpuQueue::lose(const Status &cause) {
  (void)device.finish(stream);
  pending.drop();
  copies.drop();
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
    return copyIn(target, source, size_t(size));
  case CopyKind::Out:
    return copyOut(target, source, size_t(size));
  default:
    return check(&api.CopyWithin,
                 api.CopyWithin(target, source, size_t(size), stream));
  }
}

/// The source may be what the driver has yet to write: in the stream's order it
/// is there, and the host, which fills pinned memory, waits for it. What a
/// caller's own stream was given before, nobody here knows.
Status GpuQueue::copyIn(void *target, const void *source, size_t size) {
  ASHLAR_RETURN_IF_ERROR(settle(source, size));
  if (callers || size <= PinnedUploads::smallBytes)
    return check(&api.CopyIn, api.CopyIn(target, source, size, stream));
  if (mayWriteHost)
    ASHLAR_RETURN_IF_ERROR(finish());
  return check(uploads.copy(target, source, size, stream));
}

/// What is on its way to these bytes of the host is there.
Status GpuQueue::settle(const void *host, size_t size) {
  return copies.isFor(host, size) ? finish() : Status();
}

/// What goes straight to the caller's memory is asked for when all before it
/// has ended: a driver would wait for that without a limit, or write there long
/// after the caller was told that the device is lost.
Status GpuQueue::copyOut(void *host, const void *from, size_t size) {
  ASHLAR_RETURN_IF_ERROR(settle(host, size));
  if (char *pinned = copies.add(host, size)) {
    host = pinned;
  } else {
    ASHLAR_RETURN_IF_ERROR(finish());
    mayWriteHost = true;
  }
  return check(&api.CopyOut, api.CopyOut(host, from, size, stream));
}

/// Unless it was read behind the same launches, whose number it gives.
Status GpuQueue::readFault(uint64_t &launches) {
  bool isExpected;
  launches = pending.soFar(isExpected);
  if (!isExpected || launches == readBehind)
    return {};
  ASHLAR_RETURN_IF_ERROR(
      check(&api.CopyOut, api.CopyOut(seenFault, fault, faultBytes, stream)));
  readBehind = launches;
  return {};
}

/// All that it was given.
Status GpuQueue::finish() {
  const uint64_t copied = copies.given();
  ASHLAR_RETURN_IF_ERROR(check(device.finish(stream)));
  copies.deliver(copied);
  mayWriteHost = false;
  return {};
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
  uint64_t seen;
  ASHLAR_RETURN_IF_ERROR(readFault(seen));
  if (size != 0)
    ASHLAR_RETURN_IF_ERROR(copyOut(host, from.pointer(), size_t(size)));
  ASHLAR_RETURN_IF_ERROR(finish());
  return lookAtFault(seen);
}

Status GpuQueue::record(GpuEvent &event) {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  uint64_t seen;
  ASHLAR_RETURN_IF_ERROR(readFault(seen));
  std::lock_guard<std::mutex> lock(event.mutex);
  event.queue = this;
  event.launches = seen;
  event.copies = copies.given();
  return check(&api.EventRecord, api.EventRecord(event.event, stream));
}

Status GpuQueue::waitFor(GpuEvent &event) {
  // What the host brings to its place, it waits for.
  bool isPending, hasCome;
  {
    std::lock_guard<std::mutex> lock(event.mutex);
    isPending = event.queue && event.queue != this &&
                event.queue->copies.isPending(event.copies);
  }
  if (isPending)
    return event.wait(UINT64_MAX, &hasCome);
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  mayWriteHost = true;
  const Code code = api.StreamWaitEvent(stream, event.event, 0);
  // One that no further stream of its driver waits for, the host waits for.
  return code != 0 && device.driver.causeOf(code) == Cause::NotReady
             ? event.wait(UINT64_MAX, &hasCome)
             : check(&api.StreamWaitEvent, code);
}

} // namespace ashlar::runtime

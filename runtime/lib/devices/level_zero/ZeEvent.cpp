// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeEvent.h"

#include "../Device.h"

namespace ashlar::runtime::ze {

Mark::~Mark() {
  // The device may still be going to write it, and keeps it if that has no end.
  if (timed && (last == SIZE_MAX || statusOf(all[last].come) != 0) &&
      timed->synchronize(defaultDeviceWait) == notReady)
    return;
  for (const Once &each : all) {
    for (EventId event : {each.come, each.seen})
      if (event)
        gpu.api.EventDestroy(event);
    gpu.api.EventPoolDestroy(each.pool);
  }
  if (timestamp)
    gpu.api.MemFree(gpu.context, timestamp);
}

Code Mark::create() {
  if (keepsTime) {
    const HostMemory how;
    void *memory = nullptr;
    if (Code code = gpu.api.MemAllocHost(gpu.context, &how, sizeof(*timestamp),
                                         sizeof(*timestamp), &memory))
      return code;
    timestamp = static_cast<uint64_t *>(memory);
  }
  return addOnce();
}

Code Mark::addOnce() {
  Pool how;
  how.count = 2;
  Once made = {};
  DeviceId device = gpu.device;
  if (Code code =
          gpu.api.EventPoolCreate(gpu.context, &how, 1, &device, &made.pool))
    return code;
  all.push_back(made);
  Event each;
  if (Code code = gpu.api.EventCreate(made.pool, &each, &all.back().come))
    return code;
  each.index = 1;
  return gpu.api.EventCreate(made.pool, &each, &all.back().seen);
}

/// One that nobody waits for any more.
Code Mark::findIdle(size_t &out) {
  for (size_t i = 0; i < all.size(); ++i) {
    Once &each = all[i];
    if (!each.seen)
      continue;
    if (last == SIZE_MAX) { // fresh
      out = i;
      return 0;
    }
    Code code = statusOf(each.come);
    if (code == 0 && each.isWaitedFor)
      code = statusOf(each.seen);
    if (code == notReady)
      continue;
    if (code == 0)
      code = gpu.api.EventHostReset(each.come);
    if (code == 0 && each.isWaitedFor)
      code = gpu.api.EventHostReset(each.seen);
    each.isWaitedFor = false;
    out = i;
    return code;
  }
  out = all.size();
  return addOnce();
}

Code Mark::record(Stream &stream) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    size_t idle;
    if (Code code = findIdle(idle))
      return code;
    if (keepsTime) {
      timed = &stream;
      if (Code code = stream.add([&](ListId list) {
            return gpu.api.CommandListAppendWriteGlobalTimestamp(
                list, timestamp, nullptr, 0, nullptr);
          }))
        return code;
    }
    if (Code code = stream.add([&](ListId list) {
          return gpu.api.CommandListAppendSignalEvent(list, all[idle].come);
        }))
      return code;
    last = idle;
  }
  // Times are asked for when all has ended.
  return keepsTime ? 0 : stream.flush();
}

Code Mark::waitIn(Stream &stream) {
  std::lock_guard<std::mutex> lock(mutex);
  if (last == SIZE_MAX)
    return 0;
  Once &once = all[last];
  if (once.isWaitedFor) // one stream at a time says that it has gone on
    return notReady;
  once.isWaitedFor = true;
  if (Code code = stream.add([&](ListId list) {
        return gpu.api.CommandListAppendWaitOnEvents(list, 1, &once.come);
      }))
    return code;
  return stream.add([&](ListId list) {
    return gpu.api.CommandListAppendSignalEvent(list, once.seen);
  });
}

Code Mark::query() {
  std::lock_guard<std::mutex> lock(mutex);
  return last == SIZE_MAX ? 0 : statusOf(all[last].come);
}

} // namespace ashlar::runtime::ze

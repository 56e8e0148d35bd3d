// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command lists. What is appended must not meet what stands in front of it: all
// that the device appends depends on that, so a barrier has to stand between.

#include "ZeState.h"

#include <chrono>
#include <cstring>

using namespace ashlar::ze;

ASHLAR_ZE_EXPORT zeCommandListCreate(ContextId context, DeviceId,
                                     const List *how, ListId *out) {
  ASHLAR_ZE_BEGIN(zeCommandListCreate);
  if (!find(state().contexts, context, call) || !how || how->kind != ofList ||
      how->ordinal != 1 || !out)
    return misuse(call, "arguments");
  enter(state().lists, std::make_shared<ListObject>(), ZeDouble::Lists, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeCommandListDestroy(ListId list) {
  Lock lock(state().mutex);
  auto found = find(state().lists, list, "zeCommandListDestroy");
  if (found && found->running != 0)
    misuse("zeCommandListDestroy", "it is under way");
  return leave(state().lists, list, ZeDouble::Lists, "zeCommandListDestroy");
}

ASHLAR_ZE_EXPORT zeCommandListClose(ListId list) {
  ASHLAR_ZE_BEGIN(zeCommandListClose);
  auto found = find(state().lists, list, call);
  if (!found || found->isClosed)
    return misuse(call, "a list that is closed");
  if (!found->commands.empty() && !found->commands.back().isBarrier)
    return misuse(call, "nothing keeps the next list from overtaking");
  found->isClosed = true;
  return 0;
}

ASHLAR_ZE_EXPORT zeCommandListReset(ListId list) {
  ASHLAR_ZE_BEGIN(zeCommandListReset);
  auto found = find(state().lists, list, call);
  if (!found || found->running != 0)
    return misuse(call, "a list that is under way");
  *found = {};
  return 0;
}

static Code append(const char *call, ListId list, Command command,
                   uint32_t waits) {
  auto found = find(state().lists, list, call);
  if (!found || found->isClosed || waits != 0)
    return misuse(call, "a list that is closed");
  if (!command.isBarrier && !found->commands.empty() &&
      !found->commands.back().isBarrier)
    return misuse(call, "nothing keeps it from overtaking the one before");
  command.what = call;
  found->commands.push_back(std::move(command));
  return 0;
}

ASHLAR_ZE_EXPORT zeCommandListAppendBarrier(ListId list, EventId event,
                                            uint32_t waits, EventId *) {
  ASHLAR_ZE_BEGIN(zeCommandListAppendBarrier);
  if (event)
    return misuse(call, "an event, which is not expected");
  Command barrier = {};
  barrier.isBarrier = true;
  return append(call, list, barrier, waits);
}

/// Adds the bytes where they are the driver's; the host's may be anywhere.
static Code use(const char *call, const void *address, size_t bytes,
                Command &command) {
  bool reachesBeyond;
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (allocationOf(address, bytes, reachesBeyond))
    command.uses.push_back({at, at + bytes});
  return reachesBeyond ? misuse(call, "bytes behind an allocation") : 0;
}

ASHLAR_ZE_EXPORT zeCommandListAppendMemoryCopy(ListId list, void *to,
                                               const void *from, size_t bytes,
                                               EventId, uint32_t waits,
                                               EventId *) {
  ASHLAR_ZE_BEGIN(zeCommandListAppendMemoryCopy);
  Command copy = {};
  if (use(call, to, bytes, copy) || use(call, from, bytes, copy))
    return invalidArgument;
  const auto a = reinterpret_cast<uintptr_t>(to),
             b = reinterpret_cast<uintptr_t>(from);
  if (copy.uses.empty() || (a < b + bytes && b < a + bytes))
    return misuse(call, "no memory of the driver's, or an overlap");
  copy.run = [=] { std::memcpy(to, from, bytes); };
  return append(call, list, copy, waits);
}

ASHLAR_ZE_EXPORT zeCommandListAppendMemoryFill(ListId list, void *to,
                                               const void *pattern,
                                               size_t patternBytes,
                                               size_t bytes, EventId,
                                               uint32_t waits, EventId *) {
  ASHLAR_ZE_BEGIN(zeCommandListAppendMemoryFill);
  Command fill = {};
  if (patternBytes != 1 || !pattern || use(call, to, bytes, fill) ||
      fill.uses.empty())
    return misuse(call, "arguments");
  const int value = *static_cast<const uint8_t *>(pattern);
  fill.run = [=] { std::memset(to, value, bytes); };
  return append(call, list, fill, waits);
}

ASHLAR_ZE_EXPORT zeCommandListAppendSignalEvent(ListId list, EventId event) {
  ASHLAR_ZE_BEGIN(zeCommandListAppendSignalEvent);
  auto found = find(state().events, event, call);
  if (!found || found->isSet)
    return misuse(call, "an event that is set");
  Command signal = {};
  ++found->expected;
  signal.run = [found] {
    Lock inner(state().mutex);
    --found->expected;
    found->isSet = true;
    state().changed.notify_all();
  };
  return append(call, list, signal, 0);
}

ASHLAR_ZE_EXPORT zeCommandListAppendWaitOnEvents(ListId list, uint32_t count,
                                                 EventId *events) {
  ASHLAR_ZE_BEGIN(zeCommandListAppendWaitOnEvents);
  if (count != 1 || !events)
    return misuse(call, "arguments");
  auto found = find(state().events, events[0], call);
  if (!found || (!found->isSet && found->expected == 0))
    return misuse(call, "an event that nobody is to set");
  Command wait = {};
  ++found->expected;
  wait.run = [found] {
    Lock inner(state().mutex);
    state().changed.wait(inner, [&] { return found->isSet; });
    --found->expected;
  };
  return append(call, list, wait, 0);
}

ASHLAR_ZE_EXPORT
zeCommandListAppendWriteGlobalTimestamp(ListId list, uint64_t *to, EventId,
                                        uint32_t waits, EventId *) {
  ASHLAR_ZE_BEGIN(zeCommandListAppendWriteGlobalTimestamp);
  Command stamp = {};
  if (use(call, to, sizeof(*to), stamp) || stamp.uses.empty())
    return misuse(call, "arguments");
  stamp.run = [to] {
    using namespace std::chrono;
    // In ticks of 100 ns, of 32 bits.
    *to = uint32_t(
        duration_cast<nanoseconds>(steady_clock::now().time_since_epoch())
            .count() /
        100);
  };
  return append(call, list, stamp, waits);
}

ASHLAR_ZE_EXPORT zeCommandListAppendLaunchKernel(ListId list, KernelId kernel,
                                                 const Groups *groups, EventId,
                                                 uint32_t waits, EventId *) {
  ASHLAR_ZE_BEGIN(zeCommandListAppendLaunchKernel);
  auto found = find(state().kernels, kernel, call);
  if (!found || !groups || groups->x == 0 || groups->y != 1 || groups->z != 1)
    return misuse(call, "arguments");
  Command launch = {};
  for (size_t i = 0; i < found->sizes.size(); ++i) {
    if (found->values[i].empty())
      return misuse(call, "an argument that was not set");
    if (found->sizes[i] != 0)
      continue;
    uintptr_t at;
    std::memcpy(&at, found->values[i].data(), sizeof(at));
    launch.uses.push_back({at, at + 1});
  }
  // As they are now: others may be set before it runs.
  launch.run = [program = found->program, name = found->name,
                sizes = found->sizes, values = found->values, x = groups->x,
                threads = found->threads] {
    ++ashlar_ze_double.launches;
    if (!program->run(name, sizes, values, x, threads))
      misuse(name.c_str(), "OpenCL does not run it");
  };
  return append(call, list, launch, waits);
}

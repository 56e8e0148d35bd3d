// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queues, fences and events.

#include "ZeState.h"

#include <chrono>

using namespace ashlar::ze;

/// False: it did not come in that time.
template <typename Is>
static bool waitFor(Lock &lock, uint64_t nanoseconds, Is is) {
  if (nanoseconds == UINT64_MAX) {
    state().changed.wait(lock, is);
    return true;
  }
  return state().changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                                  is);
}

/// How often somebody asks is chance.
static Code underWay() {
  --ashlar_ze_double.calls;
  return notReady;
}

ASHLAR_ZE_EXPORT zeCommandQueueCreate(ContextId context, DeviceId,
                                      const Queue *how, QueueId *out) {
  ASHLAR_ZE_BEGIN(zeCommandQueueCreate);
  if (!find(state().contexts, context, call) || !how || how->kind != ofQueue ||
      how->ordinal != 1 || how->index != 0 || !out)
    return misuse(call, "arguments");
  auto made = std::make_shared<QueueObject>();
  made->thread = std::thread(work, made);
  enter(state().queues, made, ZeDouble::Queues, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeCommandQueueDestroy(QueueId queue) {
  Lock lock(state().mutex);
  auto found = find(state().queues, queue, "zeCommandQueueDestroy");
  if (!found)
    return invalidArgument;
  if (!found->batches.empty())
    misuse("zeCommandQueueDestroy", "it has work left");
  found->isClosing = true;
  state().changed.notify_all();
  lock.unlock();
  found->thread.join();
  lock.lock();
  return leave(state().queues, queue, ZeDouble::Queues,
               "zeCommandQueueDestroy");
}

ASHLAR_ZE_EXPORT zeCommandQueueExecuteCommandLists(QueueId queue,
                                                   uint32_t count,
                                                   ListId *lists,
                                                   FenceId fence) {
  ASHLAR_ZE_BEGIN(zeCommandQueueExecuteCommandLists);
  auto found = find(state().queues, queue, call);
  if (!found || count != 1 || !lists)
    return misuse(call, "arguments");
  auto list = find(state().lists, lists[0], call);
  if (!list || !list->isClosed)
    return misuse(call, "a list that is not closed");
  std::shared_ptr<FenceObject> signalled;
  if (fence) {
    signalled = find(state().fences, fence, call);
    if (!signalled || signalled->isSet || signalled->isExpected)
      return misuse(call, "a fence that is set or expected");
    signalled->isExpected = true;
  }
  ashlar_ze_double.repeated += list->given++ != 0;
  ++list->running;
  found->batches.push_back({list, signalled});
  state().changed.notify_all();
  return 0;
}

ASHLAR_ZE_EXPORT zeCommandQueueSynchronize(QueueId queue, uint64_t timeout) {
  const bool fails = failsNow("zeCommandQueueSynchronize");
  Lock lock(state().mutex);
  auto found = find(state().queues, queue, "zeCommandQueueSynchronize");
  if (!found)
    return invalidArgument;
  // The caller takes back what a driver may still be using.
  const bool hasEnded = waitFor(lock, fails ? UINT64_MAX : timeout,
                                [&] { return found->batches.empty(); });
  return fails ? Code(ashlar_ze_double.code) : hasEnded ? 0 : underWay();
}

ASHLAR_ZE_EXPORT zeFenceCreate(QueueId queue, const Fence *how, FenceId *out) {
  ASHLAR_ZE_BEGIN(zeFenceCreate);
  if (!find(state().queues, queue, call) || !how || how->kind != ofFence)
    return misuse(call, "arguments");
  enter(state().fences, std::make_shared<FenceObject>(), ZeDouble::Fences, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeFenceDestroy(FenceId fence) {
  Lock lock(state().mutex);
  auto found = find(state().fences, fence, "zeFenceDestroy");
  if (found && found->isExpected && !found->isSet)
    misuse("zeFenceDestroy", "a queue is to set it");
  return leave(state().fences, fence, ZeDouble::Fences, "zeFenceDestroy");
}

ASHLAR_ZE_EXPORT zeFenceQueryStatus(FenceId fence) {
  ASHLAR_ZE_BEGIN(zeFenceQueryStatus);
  auto found = find(state().fences, fence, call);
  return !found ? invalidArgument : found->isSet ? 0 : notReady;
}

ASHLAR_ZE_EXPORT zeFenceReset(FenceId fence) {
  ASHLAR_ZE_BEGIN(zeFenceReset);
  auto found = find(state().fences, fence, call);
  if (!found || !found->isSet)
    return misuse(call, "a fence that is not set");
  *found = {};
  return 0;
}

ASHLAR_ZE_EXPORT zeEventPoolCreate(ContextId context, const Pool *how, uint32_t,
                                   DeviceId *, PoolId *out) {
  ASHLAR_ZE_BEGIN(zeEventPoolCreate);
  if (!find(state().contexts, context, call) || !how || how->kind != ofPool ||
      how->flags != poolHostVisible || how->count == 0 || !out)
    return misuse(call, "arguments");
  auto made = std::make_shared<PoolObject>();
  made->count = how->count;
  enter(state().pools, made, ZeDouble::Pools, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeEventPoolDestroy(PoolId pool) {
  Lock lock(state().mutex);
  return leave(state().pools, pool, ZeDouble::Pools, "zeEventPoolDestroy");
}

ASHLAR_ZE_EXPORT zeEventCreate(PoolId pool, const Event *how, EventId *out) {
  ASHLAR_ZE_BEGIN(zeEventCreate);
  auto found = find(state().pools, pool, call);
  if (!found || !how || how->kind != ofEvent || how->index >= found->count ||
      how->signal != scopeHost || !out)
    return misuse(call, "arguments");
  enter(state().events, std::make_shared<EventObject>(), ZeDouble::Events, out);
  return 0;
}

ASHLAR_ZE_EXPORT zeEventDestroy(EventId event) {
  Lock lock(state().mutex);
  auto found = find(state().events, event, "zeEventDestroy");
  if (found && found->expected != 0 && !ashlar_ze_double.failed)
    misuse("zeEventDestroy", "somebody is to set it or waits for it");
  return leave(state().events, event, ZeDouble::Events, "zeEventDestroy");
}

ASHLAR_ZE_EXPORT zeEventHostReset(EventId event) {
  ASHLAR_ZE_BEGIN(zeEventHostReset);
  auto found = find(state().events, event, call);
  if (!found || found->expected != 0)
    return misuse(call, "an event that somebody is to set or waits for");
  found->isSet = false;
  return 0;
}

ASHLAR_ZE_EXPORT zeEventHostSynchronize(EventId event, uint64_t timeout) {
  ASHLAR_ZE_BEGIN(zeEventHostSynchronize);
  if (timeout != 0)
    return misuse(call, "a wait whose end is the driver's to choose");
  auto found = find(state().events, event, call);
  return !found ? invalidArgument : found->isSet ? 0 : underWay();
}

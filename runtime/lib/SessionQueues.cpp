// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Session that holds a queue for each of its devices.

#include "IndexVerifier.h"
#include "Session.h"

#include <algorithm>

namespace ashlar::runtime {

Status Session::startQueues() {
  for (size_t i = 0; i < devices().size(); ++i) {
    ashlar_device_t &device = *devices()[i];
    QueueOptions given = {};
    given.workers = workers;
    given.executor = workers > 1 ? module->runtime->executor() : nullptr;
    given.scratchBytes = module->scratchBytes(i);
    given.scratch = scratch[i]->at();
    queues.push_back({device});
    Queue &queue = queues.back();
    ASHLAR_RETURN_IF_ERROR(
        device.ops.createQueue(device.state, given, &queue.handle));
    ASHLAR_RETURN_IF_ERROR(device.ops.createEvent(device.state, &queue.event));
    anyReturnsEarly |= device.ops.returnsEarly;
  }
  return {};
}

void Session::stopQueues() {
  // Graphs and calls are gone. One queue may wait for another one's event.
  for (Queue &queue : queues)
    if (queue.handle)
      queue.device.ops.destroyQueue(queue.handle);
  for (Queue &queue : queues)
    if (queue.event)
      queue.device.ops.destroyEvent(queue.event);
  queues.clear();
}

void Session::begin(Queue &queue) {
  queue.isPending = queue.device.ops.returnsEarly;
  queue.epoch = epoch;
}

/// Until the queue has done what it was given.
static Status await(Session::Queue &queue) {
  const DeviceOps &ops = queue.device.ops;
  bool came = false;
  if (queue.isPending) {
    ASHLAR_RETURN_IF_ERROR(ops.record(queue.handle, queue.event));
    ASHLAR_RETURN_IF_ERROR(ops.wait(queue.event, ASHLAR_FOREVER, &came));
  }
  queue.isPending = false;
  return {};
}

Status Session::finish(Queue &queue) { return answer(queue, await(queue)); }

Status Session::finishAll() {
  for (Queue &queue : queues)
    ASHLAR_RETURN_IF_ERROR(finish(queue));
  return {};
}

Status Session::gatherAtHome() {
  for (Queue &queue : queues)
    ASHLAR_RETURN_IF_ERROR(order(homeQueue(), queue));
  return {};
}

/// After a failure, whose cause is kept: nobody may use the call's memory any
/// more when it returns.
void Session::drain() {
  for (Queue &queue : queues)
    for (int attempt = 0; attempt < 2 && !await(queue).ok(); ++attempt)
      ;
}

Status Session::order(Queue &queue, Queue &after) {
  if (&queue == &after || !after.isPending)
    return {};
  // What another type of device has finished, only the host can tell.
  if (&queue.device.ops != &after.device.ops)
    return finish(after);
  ASHLAR_RETURN_IF_ERROR(
      answer(after, after.device.ops.record(after.handle, after.event)));
  return answer(queue, queue.device.ops.waitFor(queue.handle, after.event));
}

Status Session::copy(Queue &queue, CopyKind kind, DeviceAddress to,
                     DeviceAddress from, uint64_t bytes) {
  begin(queue);
  return answer(queue,
                queue.device.ops.copy(queue.handle, kind, to, from, bytes));
}

Status Session::readBack(Queue &queue, DeviceAddress from, void *host,
                         uint64_t bytes) {
  return answer(queue,
                queue.device.ops.readBack(queue.handle, from, host, bytes));
}

void Session::countStaged(uint64_t bytes) {
  stagedTensors.add(1);
  stagedBytes.add(bytes);
  countTransfer(bytes);
}

Status Session::copyIn(DeviceAddress to, const void *host, uint64_t bytes) {
  countStaged(bytes);
  return copy(homeQueue(), CopyKind::In, to, {const_cast<void *>(host), 0},
              bytes);
}

Status Session::copyOut(void *host, DeviceAddress from, uint64_t bytes) {
  countStaged(bytes);
  return copy(homeQueue(), CopyKind::Out, {host, 0}, from, bytes);
}

char *Session::bounceBuffer() {
  if (!bounce)
    bounce.reset(new char[bounceBytes]);
  return bounce.get();
}

/// Fills what no result may depend on.
Status Session::poison() {
  char *filler = bounceBuffer();
  std::fill(filler, filler + bounceBytes, char(0xA5));
  for (uint32_t i = 0; i < arenas.size(); ++i) {
    uint64_t size = arenas[i]->size();
    for (uint64_t at = 0; at < size; at += bounceBytes)
      ASHLAR_RETURN_IF_ERROR(copy(
          queues[deviceOfArena(program(), i)], CopyKind::In,
          arenas[i]->at() + at, {filler, 0}, std::min(bounceBytes, size - at)));
  }
  // The buffer is free again.
  return finishAll();
}

} // namespace ashlar::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Session that holds a queue for each of its devices.

#include "IndexVerifier.h"
#include "Session.h"

#include <algorithm>

namespace ashlar::runtime {

// Of the host, for what passes between devices of which neither reaches the
// other's memory.
static constexpr uint64_t bounceBytes = 64 * 1024;

Status Session::addQueue(ashlar_device_t &device, const QueueOptions &given) {
  const DeviceOps &ops = device.ops;
  Queue queue = {device};
  queues.reserve(queues.size() + 1); // so that none is lost
  ASHLAR_RETURN_IF_ERROR(ops.createQueue(device.state, given, &queue.handle));
  Status status = ops.createEvent(device.state, &queue.event);
  if (status.ok())
    queues.push_back(queue);
  else
    ops.destroyQueue(queue.handle);
  anyReturnsEarly |= ops.returnsEarly;
  return status;
}

Status Session::startQueues() {
  void *stream = options.stream;
  for (size_t i = 0; i < devices().size(); ++i) {
    ashlar_device_t &device = *devices()[i];
    QueueOptions given = {};
    if (device.ops.takesStreams)
      std::swap(given.stream, stream);
    given.workers = workers;
    given.executor = workers > 1 ? module->runtime->executor() : nullptr;
    given.scratchBytes = module->scratchBytes(i);
    given.scratch = scratch[i]->at();
    ASHLAR_RETURN_IF_ERROR(addQueue(device, given));
  }
  if (stream)
    return invalidArgument(
        concat("expected none: no device of the program has "
               "queues that a caller can have, the first is ",
               devices().front()->name),
        "options.stream");
  return {};
}

void Session::stopQueues() {
  // Graphs and calls are gone. One queue may wait for another one's event.
  for (Queue &queue : queues)
    queue.device.ops.destroyQueue(queue.handle);
  for (Queue &queue : queues)
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

Session::Queue *Session::queueOf(const ashlar_device_t *device) {
  for (Queue &queue : queues)
    if (&queue.device.whole == device)
      return &queue;
  return nullptr;
}

Status Session::startStaging(const ashlar_device_t *device, uint64_t bytes,
                             Queue *&out) {
  out = queueOf(device);
  stagedTensors.add(1);
  stagedBytes.add(bytes);
  countTransfer(bytes);
  return device ? device->status() : Status();
}

Status Session::reach(ashlar_device_t &device) {
  ASHLAR_RETURN_IF_ERROR(device.status());
  QueueOptions alone = {};
  alone.workers = 1;
  return queueOf(&device) ? Status() : addQueue(device, alone);
}

Status Session::copyIn(DeviceAddress to, ashlar_device_t *device, void *data,
                       uint64_t bytes) {
  TracedCopy traced(*this, "copy in", bytes);
  Queue *from = nullptr;
  ASHLAR_RETURN_IF_ERROR(startStaging(device, bytes, from));
  ASHLAR_RETURN_IF_ERROR(move(&homeQueue(), to, from, {data, 0}, bytes));
  return from ? order(homeQueue(), *from) : Status();
}

Status Session::copyOut(ashlar_device_t *device, void *data, DeviceAddress from,
                        uint64_t bytes) {
  TracedCopy traced(*this, "copy out", bytes);
  Queue *to = nullptr;
  ASHLAR_RETURN_IF_ERROR(startStaging(device, bytes, to));
  if (to)
    ASHLAR_RETURN_IF_ERROR(order(*to, homeQueue()));
  return move(to, {data, 0}, &homeQueue(), from, bytes);
}

Status Session::move(Queue *to, DeviceAddress target, Queue *from,
                     DeviceAddress source, uint64_t bytes) {
  bool fromHost = !from || from->device.usesHostMemory(),
       toHost = !to || to->device.usesHostMemory();
  if (from == to || (from && to && fromHost && toHost))
    return copy(*to, CopyKind::Within, target, source, bytes);
  if (to && fromHost)
    return copy(*to, CopyKind::In, target, source, bytes);
  return toHost ? copy(*from, CopyKind::Out, target, source, bytes)
                : passOn(*to, target, *from, source, bytes);
}

/// Piece by piece.
Status Session::passOn(Queue &to, DeviceAddress target, Queue &from,
                       DeviceAddress source, uint64_t bytes) {
  char *bounce = bounceBuffer();
  for (uint64_t at = 0; at < bytes; at += bounceBytes) {
    uint64_t size = std::min(bounceBytes, bytes - at);
    ASHLAR_RETURN_IF_ERROR(readBack(from, source + at, bounce, size));
    ASHLAR_RETURN_IF_ERROR(
        copy(to, CopyKind::In, target + at, {bounce, 0}, size));
    ASHLAR_RETURN_IF_ERROR(finish(to));
  }
  return {};
}

char *Session::bounceBuffer() {
  if (bounce.empty())
    bounce.resize(bounceBytes);
  return bounce.data();
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device for tests, which runs programs of the processor as an accelerator
// would: in a memory of its own that is closed to everybody outside submissions
// and copies, on a thread of its own. So a runtime that takes the device's
// memory for the host's, or gives a kernel what it was not to have, faults; and
// one that does not wait, computes wrong numbers.

#include "../cpu/CodeImage.h"
#include "../cpu/CpuDevice.h"
#include "GuardQueue.h"

#include <cstring>

namespace ashlar::runtime {

namespace {
struct Device {
  GuardMemory memory;
};
struct Executable {
  std::unique_ptr<CodeImage> code;
  std::deque<GuardKernel> kernels;
};
/// A recorded event knows its queue's error.
struct Event {
  GuardEvent event;
  std::atomic<GuardQueue *> queue{nullptr};
};
} // namespace

static GuardMemory &memoryOf(void *device) {
  return static_cast<Device *>(device)->memory;
}
static GuardQueue &queueOf(void *queue) {
  return *static_cast<GuardQueue *>(queue);
}

// Two, so that one can wait for the other.
static uint32_t guardCount() { return 2; }

static Status guardOpen(uint32_t, void **outDevice) {
  *outDevice = new Device;
  return {};
}

static void guardClose(void *device) { delete static_cast<Device *>(device); }

static Status guardAllocate(void *device, uint64_t size, ashlar_memory_kind_t,
                            DeviceAddress *outAddress) {
  return memoryOf(device).allocate(size, &outAddress->base);
}

static void guardFree(void *device, DeviceAddress address, uint64_t) {
  memoryOf(device).free(address.base);
}

static Status guardLoad(void *, const void *image, uint64_t size,
                        void **outExecutable) {
  auto executable = std::make_unique<Executable>();
  ASHLAR_RETURN_IF_ERROR(CodeImage::load(image, size, executable->code));
  *outExecutable = executable.release();
  return {};
}

static void guardUnload(void *, void *executable) {
  delete static_cast<Executable *>(executable);
}

/// Host code has no workgroups of its own: a block is of use to tests only.
static Status guardFindKernel(void *opaque, const KernelForm &form,
                              const void **outKernel) {
  auto &executable = *static_cast<Executable *>(opaque);
  const void *function = executable.code->find(form.symbol);
  if (!function)
    return corrupt(concat("the code lacks the function ", form.symbol),
                   form.symbol);
  executable.kernels.push_back({function, form.integers, form.arguments});
  *outKernel = &executable.kernels.back();
  return {};
}

static Status guardCreateQueue(void *device, const QueueOptions &options,
                               void **outQueue) {
  auto queue = std::make_unique<GuardQueue>(memoryOf(device), options);
  ASHLAR_RETURN_IF_ERROR(queue->start());
  *outQueue = queue.release();
  return {};
}

static void guardDestroyQueue(void *queue) { delete &queueOf(queue); }

static Status guardCopy(void *queue, CopyKind kind, DeviceAddress to,
                        DeviceAddress from, uint64_t size) {
  queueOf(queue).copy(kind, to, from, size);
  return queueOf(queue).error();
}

static Status guardSubmit(void *queue, const Submission &given) {
  queueOf(queue).submit(
      queueOf(queue).prepare(given.list, given.range, given.counters),
      given.control);
  return queueOf(queue).error();
}

static Status guardReadBack(void *queue, DeviceAddress from, void *host,
                            uint64_t size) {
  queueOf(queue).copy(CopyKind::Out, {host, 0}, from, size);
  queueOf(queue).finish();
  return queueOf(queue).error();
}

static Status guardCreateEvent(void *, void **outEvent) {
  *outEvent = new Event;
  return {};
}

static void guardDestroyEvent(void *event) {
  delete static_cast<Event *>(event);
}

static Status guardRecord(void *queue, void *opaque) {
  auto *event = static_cast<Event *>(opaque);
  event->queue = &queueOf(queue);
  uint64_t ticket = event->event.record();
  queueOf(queue).give([=]() -> Status {
    event->event.complete(ticket);
    return {};
  });
  return queueOf(queue).error();
}

static Status guardWaitFor(void *queue, void *opaque) {
  auto *event = static_cast<Event *>(opaque);
  uint64_t ticket = event->event.lastTicket();
  queueOf(queue).give([=]() -> Status {
    event->event.wait(ticket, UINT64_MAX);
    return {};
  });
  return queueOf(queue).error();
}

static Status guardWait(void *opaque, uint64_t timeoutNanoseconds,
                        bool *outCame) {
  auto &event = *static_cast<Event *>(opaque);
  *outCame = event.event.wait(event.event.lastTicket(), timeoutNanoseconds);
  GuardQueue *queue = event.queue;
  return queue ? queue->error() : Status();
}

static Status guardEncode(void *, const TensorMap &map, DeviceAddress address,
                          void *outBlob) {
  GuardTensorMap encoded = {address.pointer(), map.rank, {}, {}};
  std::memcpy(encoded.sizes, map.sizes, sizeof(map.sizes));
  std::memcpy(encoded.strides, map.strides, sizeof(map.strides));
  std::memcpy(outBlob, &encoded, sizeof(encoded));
  return {};
}

using Graph = std::shared_ptr<const GuardWork>;

static Status guardCapture(void *queue, const CommandList &list,
                           CommandRange range, void **outGraph) {
  *outGraph = new Graph(queueOf(queue).prepare(list, range, {}));
  return {};
}

static Status guardLaunch(void *queue, void *graph, RunControl &control) {
  queueOf(queue).submit(*static_cast<Graph *>(graph), control);
  return queueOf(queue).error();
}

static void guardDestroyGraph(void *graph) {
  delete static_cast<Graph *>(graph);
}

extern const DeviceOps guardDeviceOps;
const DeviceOps guardDeviceOps = {
    "guard",
    /*programs=*/"cpu",
    MemoryKind::Device,
    /*runsNativeCode=*/true,
    /*isOffered=*/false,
    /*returnsEarly=*/true,
    guardCount,
    guardOpen,
    guardClose,
    [](void *) { return cpuDeviceOps.features(nullptr); },
    [](void *, std::string_view format) {
      return cpuDeviceOps.accepts(nullptr, format);
    },
    [](void *, uint64_t) { return Status(); },
    guardAllocate,
    guardFree,
    guardLoad,
    guardUnload,
    guardFindKernel,
    guardCreateQueue,
    guardDestroyQueue,
    guardCopy,
    guardSubmit,
    guardReadBack,
    /*follow=*/nullptr,
    guardCreateEvent,
    guardDestroyEvent,
    guardRecord,
    guardWaitFor,
    guardWait,
    guardEncode,
    guardCapture,
    guardLaunch,
    guardDestroyGraph,
};

} // namespace ashlar::runtime

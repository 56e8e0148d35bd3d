// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WrappedDevice.h"

#include <cstring>

using namespace ashlar::runtime;

namespace ashlar::test {

const char *name(DeviceCall call) {
  static const char *const names[] = {
      "open",        "checkMemory", "allocate", "loadExecutable", "findKernel",
      "createQueue", "copy",        "submit",   "readBack",       "follow",
      "createEvent", "record",      "waitFor",  "wait",           "encode",
      "capture",     "launch"};
  return names[int(call)];
}

// Tables of functions have no place for what they wrap.
static DeviceHooks *currentHooks;
static constexpr size_t mostTypes = 8;
static const DeviceOps *innerOps[mostTypes];

namespace {
struct Wrapped {
  const DeviceOps &ops;
  DeviceHooks &hooks;
  uint32_t ordinal;
  void *state = nullptr;

  Status before(DeviceCall call) const {
    return hooks.before ? hooks.before(call, ordinal) : Status();
  }
  /// What a copy has brought, or will have brought when its queue is waited
  /// for.
  void spoil(DeviceCall call, void *bytes, uint64_t size) const {
    if (size != 0 && hooks.spoils && hooks.spoils(call, ordinal))
      static_cast<char *>(bytes)[size - 1] ^= char(0x80);
  }
};
/// An executable, a queue, an event or a graph.
struct Part {
  const Wrapped &device;
  void *inner;
};
} // namespace

static Wrapped &of(void *device) { return *static_cast<Wrapped *>(device); }
static Part &partOf(void *part) { return *static_cast<Part *>(part); }

static uint32_t count() { return 2; }

template <size_t Type> static Status open(uint32_t ordinal, void **out) {
  auto device = std::make_unique<Wrapped>(
      Wrapped{*innerOps[Type], *currentHooks, ordinal});
  ASHLAR_RETURN_IF_ERROR(device->before(DeviceCall::Open));
  ASHLAR_RETURN_IF_ERROR(device->ops.open(0, &device->state));
  ++device->hooks.alive;
  *out = device.release();
  return {};
}

static void close(void *device) {
  of(device).ops.close(of(device).state);
  --of(device).hooks.alive;
  delete &of(device);
}

static String features(void *device) {
  return of(device).ops.features(of(device).state);
}

static bool accepts(void *device, std::string_view format) {
  return of(device).ops.accepts(of(device).state, format);
}

static Status checkMemory(void *device, uint64_t size) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::CheckMemory));
  return of(device).ops.checkMemory(of(device).state, size);
}

static Status allocate(void *device, uint64_t size, ashlar_memory_kind_t use,
                       DeviceAddress *out) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::Allocate));
  ASHLAR_RETURN_IF_ERROR(
      of(device).ops.allocate(of(device).state, size, use, out));
  ++of(device).hooks.alive;
  return {};
}

static void release(void *device, DeviceAddress address, uint64_t size) {
  of(device).ops.free(of(device).state, address, size);
  --of(device).hooks.alive;
}

static Status loadExecutable(void *device, const void *image, uint64_t size,
                             void **out) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::LoadExecutable));
  void *inner = nullptr;
  ASHLAR_RETURN_IF_ERROR(
      of(device).ops.loadExecutable(of(device).state, image, size, &inner));
  ++of(device).hooks.alive;
  *out = new Part{of(device), inner};
  return {};
}

static void unloadExecutable(void *device, void *executable) {
  of(device).ops.unloadExecutable(of(device).state, partOf(executable).inner);
  --of(device).hooks.alive;
  delete &partOf(executable);
}

static Status findKernel(void *executable, const KernelForm &form,
                         const void **out) {
  const Wrapped &device = partOf(executable).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::FindKernel));
  return device.ops.findKernel(partOf(executable).inner, form, out);
}

static Status createQueue(void *device, const QueueOptions &options,
                          void **out) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::CreateQueue));
  void *inner = nullptr;
  ASHLAR_RETURN_IF_ERROR(
      of(device).ops.createQueue(of(device).state, options, &inner));
  ++of(device).hooks.alive;
  *out = new Part{of(device), inner};
  return {};
}

static void destroyQueue(void *queue) {
  const Wrapped &device = partOf(queue).device;
  device.ops.destroyQueue(partOf(queue).inner);
  --device.hooks.alive;
  delete &partOf(queue);
}

static Status copy(void *queue, CopyKind kind, DeviceAddress to,
                   DeviceAddress from, uint64_t size) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Copy));
  ASHLAR_RETURN_IF_ERROR(
      device.ops.copy(partOf(queue).inner, kind, to, from, size));
  if (kind == CopyKind::Out && !device.ops.returnsEarly)
    device.spoil(DeviceCall::Copy, to.pointer(), size);
  return {};
}

static Status submit(void *queue, const Submission &submission) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Submit));
  return device.ops.submit(partOf(queue).inner, submission);
}

static Status readBack(void *queue, DeviceAddress from, void *host,
                       uint64_t size) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::ReadBack));
  ASHLAR_RETURN_IF_ERROR(
      device.ops.readBack(partOf(queue).inner, from, host, size));
  device.spoil(DeviceCall::ReadBack, host, size);
  return {};
}

static Status follow(void *queue, Sequencer &sequencer) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Follow));
  return device.ops.follow(partOf(queue).inner, sequencer);
}

static Status createEvent(void *device, void **out) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::CreateEvent));
  void *inner = nullptr;
  ASHLAR_RETURN_IF_ERROR(of(device).ops.createEvent(of(device).state, &inner));
  ++of(device).hooks.alive;
  *out = new Part{of(device), inner};
  return {};
}

static void destroyEvent(void *event) {
  const Wrapped &device = partOf(event).device;
  device.ops.destroyEvent(partOf(event).inner);
  --device.hooks.alive;
  delete &partOf(event);
}

static Status record(void *queue, void *event) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Record));
  return device.ops.record(partOf(queue).inner, partOf(event).inner);
}

static Status waitFor(void *queue, void *event) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::WaitFor));
  return device.ops.waitFor(partOf(queue).inner, partOf(event).inner);
}

static Status wait(void *event, uint64_t timeout, bool *outCame) {
  const Wrapped &device = partOf(event).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Wait));
  return device.ops.wait(partOf(event).inner, timeout, outCame);
}

static Status encode(void *device, const TensorMap &map, DeviceAddress address,
                     void *blob) {
  ASHLAR_RETURN_IF_ERROR(of(device).before(DeviceCall::Encode));
  return of(device).ops.encode(of(device).state, map, address, blob);
}

static Status capture(void *queue, const CommandList &list, CommandRange range,
                      void **out) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Capture));
  void *inner = nullptr;
  ASHLAR_RETURN_IF_ERROR(
      device.ops.capture(partOf(queue).inner, list, range, &inner));
  if (!inner)
    return {};
  ++device.hooks.alive;
  *out = new Part{device, inner};
  return {};
}

static Status launch(void *queue, void *graph, RunControl &control) {
  const Wrapped &device = partOf(queue).device;
  ASHLAR_RETURN_IF_ERROR(device.before(DeviceCall::Launch));
  return device.ops.launch(partOf(queue).inner, partOf(graph).inner, control);
}

static void destroyGraph(void *graph) {
  if (!graph)
    return;
  const Wrapped &device = partOf(graph).device;
  device.ops.destroyGraph(partOf(graph).inner);
  --device.hooks.alive;
  delete &partOf(graph);
}

template <size_t Type> static const DeviceOps *wrap(const DeviceOps &inner) {
  static DeviceOps table;
  innerOps[Type] = &inner;
  table = {inner.type,
           inner.programs,
           inner.memory,
           inner.runsNativeCode,
           inner.isOffered,
           inner.returnsEarly,
           count,
           open<Type>,
           close,
           features,
           accepts,
           checkMemory,
           allocate,
           release,
           loadExecutable,
           unloadExecutable,
           findKernel,
           createQueue,
           destroyQueue,
           copy,
           submit,
           readBack,
           inner.follow ? follow : nullptr,
           createEvent,
           destroyEvent,
           record,
           waitFor,
           wait,
           inner.encode ? encode : nullptr,
           inner.capture ? capture : nullptr,
           inner.launch ? launch : nullptr,
           inner.destroyGraph ? destroyGraph : nullptr};
  return &table;
}

Vector<const DeviceOps *> wrapDevices(DeviceHooks &hooks) {
  using Wrap = const DeviceOps *(*)(const DeviceOps &);
  static const Wrap wraps[mostTypes] = {wrap<0>, wrap<1>, wrap<2>, wrap<3>,
                                        wrap<4>, wrap<5>, wrap<6>, wrap<7>};
  currentHooks = &hooks;
  Vector<const DeviceOps *> result;
  for (const DeviceOps *inner : allDevices())
    if (std::strcmp(inner->type, "null") != 0 && inner->count() != 0 &&
        result.size() < mostTypes)
      result.push_back(wraps[result.size()](*inner));
  return result;
}

} // namespace ashlar::test
